import { GatewayError } from '@weir/kernel';
import { encodeErrorBody, encodeErrorEvent, errorAnswer } from './error-body.js';
import { SseDecoder } from './sse-decoder.js';
import { encodeSseEvent } from './sse-encoder.js';

const json = (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes).toString('utf8'));

function event(bytes: Uint8Array): { event: string | undefined; data: string | undefined } {
  const found: { event: string | undefined; data: string | undefined }[] = [];
  new SseDecoder().push(bytes, ({ event: name, data }) =>
    found.push({ event: name, data: data?.toString('utf8') }),
  );
  expect(found).toHaveLength(1);
  return found[0] ?? { event: undefined, data: undefined };
}

const OWN = new GatewayError('invalid_request', 'Change "x".\nNow.', { param: 'x' });
const passThrough = {
  status: 418,
  contentType: 'application/json',
  body: Buffer.from('{\n "error": {"a": 1}\r\n}'),
};
const THEIRS = new GatewayError('upstream_rejected', 'ours', { passThrough });

describe('error bodies', () => {
  it("are OpenAI's shape", () => {
    const body = {
      message: 'Change "x".\nNow.',
      type: 'invalid_request_error',
      param: 'x',
      code: 'invalid_request',
    };
    expect(json(encodeErrorBody(OWN))).toEqual({ error: body });
    expect(json(encodeErrorBody(new GatewayError('draining', 'm')))).toMatchObject({
      error: { param: null },
    });
    expect(errorAnswer(OWN)).toMatchObject({ status: 400, contentType: 'application/json' });
  });

  it("let the provider's answer through", () => {
    expect(errorAnswer(THEIRS)).toBe(passThrough);
  });

  it('are one event inside a stream', () => {
    const { event: name, data } = event(encodeErrorEvent(OWN));
    expect(name).toBe('error');
    expect(JSON.parse(data ?? '')).toEqual(json(encodeErrorBody(OWN)));
  });

  it('stay one event whatever line breaks the provider used', () => {
    const { data } = event(encodeErrorEvent(THEIRS));
    expect(JSON.parse(data ?? '')).toEqual({ error: { a: 1 } });
  });

  it.each(['{"code":400,"message":"x"}', '[{"error":{}}]', 'x', ''])(
    'are ours in place of a body that SDKs would take for a chunk: %j',
    (text) => {
      const flat = { ...passThrough, body: Buffer.from(text) };
      const { data } = event(
        encodeErrorEvent(new GatewayError('upstream_rejected', 'no', { passThrough: flat })),
      );
      expect(JSON.parse(data ?? '')).toMatchObject({ error: { code: 'upstream_rejected', message: 'no' } });
    },
  );
});

describe('encodeSseEvent', () => {
  it.each(['x', '', 'a\nb', 'a\r\nb\rc', ' lead'])('%j is read back', (data) => {
    const read = event(encodeSseEvent(data, 'e'));
    expect(read.data ?? '').toBe(data.replace(/\r\n|\r/g, '\n'));
    expect(read.event).toBe('e');
  });
});
