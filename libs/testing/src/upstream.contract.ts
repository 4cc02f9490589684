import type { StreamClient } from '@weir/upstream';
import type { ScriptedAnswer } from './scripted-upstream.js';
import { upstreamAnswers } from './upstream-answers.contract.js';
import { upstreamFailures } from './upstream-failures.contract.js';
import {
  PATIENT,
  UpstreamFixture,
  DONE,
  JSON_TYPE,
  ROLE,
  SSE,
  STOP,
  text,
  stream,
  readAll,
  failureOf,
  type ClientOptions,
} from './upstream-fixture.js';

/** What every StreamClient does, over a real socket. @param make builds one for a loopback provider. */
export function streamClientContract(make: (options: ClientOptions) => StreamClient): void {
  const fixture = new UpstreamFixture(make);
  upstreamAnswers(fixture);
  upstreamFailures(fixture);

  describe('leaving', () => {
    it('before it starts', async () => {
      const reason = new Error('left');
      fixture.abort.abort(reason);
      await expect(fixture.open()).rejects.toBe(reason);
      expect(fixture.upstream.calls).toHaveLength(0);
    });

    it.each<[string, ScriptedAnswer]>([
      ['before headers', { silent: true }],
      ['in the head', { ...stream(ROLE), end: 'hang' }],
      ['in a refusal', { status: 500, chunks: ['{'], end: 'hang' }],
    ])('%s', async (_name, answer) => {
      fixture.upstream.script(answer);
      const opening = fixture.open();
      await fixture.upstream.arrived(1);
      const reason = new Error('left');
      fixture.abort.abort(reason);
      await expect(opening).rejects.toBe(reason);
      await fixture.upstream.calls[0]?.closed;
    });

    it('in the middle', async () => {
      fixture.upstream.script({ ...stream(text('a')), end: 'hang' });
      const answer = await fixture.open();
      const reading = readAll(answer);
      const reason = new Error('left');
      fixture.abort.abort(reason);
      await expect(reading).rejects.toBe(reason);
      await fixture.upstream.calls[0]?.closed;
    });

    it('by not reading on', async () => {
      fixture.upstream.script({ ...stream(text('a'), text('b')), end: 'hang' });
      for await (const _frame of (await fixture.open()).frames) break;
      await fixture.upstream.calls[0]?.closed;
    });
  });

  describe('telling that its reader is done', () => {
    it.each<[string, ScriptedAnswer]>([
      ['with all of it', stream(text('a'), STOP, DONE)],
      ['with a plain answer', { headers: JSON_TYPE, chunks: ['{"choices":[{"index":0}]}'] }],
    ])('%s', async (_name, answer) => {
      const onOver = jest.fn();
      fixture.upstream.script(answer);
      const { frames } = await fixture.open({ onOver, stream: answer.headers === SSE });
      expect(onOver).not.toHaveBeenCalled();
      for await (const _frame of frames) expect(onOver).not.toHaveBeenCalled();
      expect(onOver.mock.calls).toEqual([[undefined]]);
    });

    it('with a broken answer', async () => {
      const onOver = jest.fn();
      fixture.upstream.script({ ...stream(text('a')), end: 'cut' });
      const failure = await failureOf(readAll(await fixture.open({ onOver })));
      expect(onOver.mock.calls).toEqual([[failure]]);
    });

    it('by leaving', async () => {
      const onOver = jest.fn((_thrown?: Error) => undefined);
      fixture.upstream.script({ ...stream(text('a'), text('b')), end: 'hang' });
      for await (const _frame of (await fixture.open({ onOver })).frames) break;
      expect(onOver.mock.calls).toMatchObject([[{ code: 'client_disconnected' }]]);
    });

    it('by an abort, also where the provider was done before', async () => {
      const onOver = jest.fn();
      fixture.upstream.script({ headers: JSON_TYPE, chunks: ['{"choices":[{"index":0}]}'] });
      const answer = await fixture.open({ onOver, stream: false });
      await fixture.upstream.calls[0]?.closed;
      const reason = new Error('left');
      fixture.abort.abort(reason);
      expect(onOver.mock.calls).toEqual([[reason]]);
      await expect(readAll(answer)).rejects.toBe(reason);
    });

    it.each<[string, ScriptedAnswer]>([
      ['whole', stream(text('a'), STOP, DONE)],
      ['broken', { ...stream(text('a')), end: 'cut' }],
      ['refused', { status: 500 }],
    ])('and listens to the signal no longer: %s', async (_name, answer) => {
      const { signal } = fixture.abort;
      const added = jest.spyOn(signal, 'addEventListener');
      const removed = jest.spyOn(signal, 'removeEventListener');
      fixture.upstream.script(answer);
      await fixture
        .open()
        .then(readAll, () => '')
        .catch(() => '');
      expect(added).toHaveBeenCalledTimes(1);
      expect(removed.mock.calls).toEqual([added.mock.calls[0]?.slice(0, 2)]);
    });

    it('but not where no answer came', async () => {
      const onOver = jest.fn();
      fixture.upstream.script({ status: 500 }, { silent: true });
      await failureOf(fixture.open({ onOver }));
      const opening = fixture.open({ onOver });
      await fixture.upstream.arrived(2);
      fixture.abort.abort(new Error('left'));
      await expect(opening).rejects.toThrow('left');
      expect(onOver).not.toHaveBeenCalled();
    });
  });

  it('stops the provider while the reader is slow, and then delivers everything', async () => {
    fixture.start({ timeouts: { ...PATIENT, idleMs: 1000 } });
    const big = text('x'.repeat(32_000));
    const count = 1000;
    fixture.upstream.script(stream(...Array.from({ length: count }, () => big), STOP, DONE));
    const answer = await fixture.open();
    const { written } = fixture.upstream.calls[0] ?? { written: () => 0 };
    // Longer than the idle limit: a slow reader is not a silent provider.
    let before = -1;
    while (written() !== before) {
      before = written();
      await new Promise((resolve) => setTimeout(resolve, 1100));
    }
    expect(written()).toBeLessThan((count * big.length) / 2);
    expect(answer.reading.bufferedBytes).toBeLessThan(1024 * 1024);
    expect(answer.reading.bufferedBytes).toBeGreaterThan(0);
    const all = await readAll(answer);
    expect(all.length).toBe(count * big.length + STOP.length + DONE.length);
    expect(answer.reading.bufferedBytes).toBe(0);
  });

  it('opens no more connections than slots, and keeps those it has', async () => {
    fixture.start({ connections: 2 });
    fixture.upstream.script(...Array.from({ length: 12 }, () => stream(text('a'), STOP, DONE)));
    await Promise.all(Array.from({ length: 12 }, async () => readAll(await fixture.open())));
    expect(fixture.upstream.calls).toHaveLength(12);
    expect(fixture.upstream.mostConnections).toBe(2);
  });

  it('cuts running streams when it is closed', async () => {
    fixture.upstream.script({ ...stream(text('a')), end: 'hang' });
    const answer = await fixture.open();
    const reading = failureOf(readAll(answer));
    await fixture.client.close();
    expect(await reading).toMatchObject({ code: 'stream_truncated' });
  });
}
