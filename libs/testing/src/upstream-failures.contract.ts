import { GatewayError } from '@weir/kernel';
import type { UpstreamFixture } from './upstream-fixture.js';
import {
  PATIENT,
  SSE,
  JSON_TYPE,
  DONE,
  ROLE,
  STOP,
  text,
  error,
  stream,
  readAll,
  failureOf,
} from './upstream-fixture.js';
import type { ScriptedAnswer } from './scripted-upstream.js';
import type { ClientOptions } from './upstream-fixture.js';
import { ScriptedUpstream } from './scripted-upstream.js';

/** Answers that are refused, broken or late. */
export function upstreamFailures(fixture: UpstreamFixture): void {
  describe('a no before output', () => {
    it.each([
      [
        429,
        { 'retry-after-ms': '200' },
        { code: 'upstream_rate_limited', failure: 'rate_limit_requests', hintMs: 200 },
      ],
      [529, {}, { code: 'upstream_unavailable', failure: 'overloaded' }],
      [503, { 'retry-after': '7' }, { code: 'upstream_unavailable', failure: 'overloaded', hintMs: 7000 }],
      [500, {}, { code: 'upstream_unavailable', failure: 'transient' }],
      [401, {}, { code: 'upstream_auth', failure: 'auth', retryable: false }],
      [402, {}, { code: 'upstream_rate_limited', failure: 'quota_exhausted', retryable: false }],
      [302, {}, { code: 'upstream_protocol', failure: 'fatal', retryable: false }],
    ])('%d %j', async (status, headers, expected) => {
      const chunks = ['{"error":{"message":"no"}}'];
      fixture.upstream.script({ status, headers: { ...JSON_TYPE, ...headers }, chunks });
      const thrown = await failureOf(fixture.open());
      expect(thrown).toMatchObject({ retryable: true, hintMs: undefined, ...expected });
      expect(thrown).toMatchObject({
        origin: 'provider',
        sent: true,
        committed: false,
        upstreamStatus: status,
      });
      expect(thrown.passThrough).toBeUndefined();
    });

    it("passes a refusal of the caller's request through", async () => {
      const body = '{"error":{"message":"bad temperature","type":"invalid_request_error"}}';
      fixture.upstream.script({ status: 422, headers: JSON_TYPE, chunks: [body] });
      const thrown = await failureOf(fixture.open());
      expect(thrown).toMatchObject({ code: 'upstream_rejected', status: 422, retryable: false });
      expect(Buffer.from(thrown.passThrough?.body ?? []).toString()).toBe(body);
      expect(thrown.message).not.toContain('temperature');
    });

    it('never passes a page through', async () => {
      fixture.upstream.script({
        status: 404,
        headers: { 'content-type': 'text/html' },
        chunks: ['<html>secret</html>'],
      });
      const thrown = await failureOf(fixture.open());
      expect(thrown.status).toBe(404);
      expect(JSON.parse(Buffer.from(thrown.passThrough?.body ?? []).toString())).toMatchObject({
        error: { code: 'upstream_rejected' },
      });
    });

    it('finds a 429 inside a 200', async () => {
      fixture.upstream.script(stream(': wait\n\n', ROLE, error(429, 'rate_limit_error'), DONE));
      const thrown = await failureOf(fixture.open());
      expect(thrown).toMatchObject({ failure: 'rate_limit_requests', retryable: true, upstreamStatus: 429 });
      expect(thrown.committed).toBe(false);
    });

    it.each<[string, { answer: ScriptedAnswer; stream: boolean }, string, boolean]>([
      ['an empty stream', { answer: stream(), stream: true }, 'upstream_protocol', true],
      ['an empty body', { answer: { headers: JSON_TYPE }, stream: false }, 'upstream_protocol', true],
      [
        'a page',
        { answer: { headers: SSE, chunks: ['<!doctype html>'] }, stream: true },
        'upstream_protocol',
        false,
      ],
      [
        'a page for JSON',
        { answer: { headers: JSON_TYPE, chunks: ['<html>'] }, stream: false },
        'upstream_protocol',
        false,
      ],
      [
        'broken JSON',
        { answer: { headers: JSON_TYPE, chunks: ['{"id":'] }, stream: false },
        'upstream_protocol',
        true,
      ],
      [
        'a cut body',
        { answer: { headers: JSON_TYPE, chunks: ['{"id":'], end: 'cut' }, stream: false },
        'upstream_unavailable',
        true,
      ],
      ['a cut head', { answer: { ...stream(ROLE), end: 'cut' }, stream: true }, 'upstream_unavailable', true],
      ['a head that ends', { answer: stream(ROLE), stream: true }, 'upstream_unavailable', true],
      ['a reset', { answer: { headers: SSE, end: 'cut' }, stream: true }, 'upstream_unavailable', true],
    ])('%s', async (_name, { answer, stream: streamed }, code, retryable) => {
      fixture.upstream.script(answer);
      const thrown = await failureOf(fixture.open({ stream: streamed }));
      expect(thrown).toMatchObject({ code, retryable, sent: true, committed: false, upstreamStatus: 200 });
    });

    it('reads no more of a refusal than it needs', async () => {
      const chunks = Array.from({ length: 200 }, () => 'x'.repeat(65_536));
      fixture.upstream.script({ status: 500, headers: { 'content-type': 'text/plain' }, chunks });
      expect(await failureOf(fixture.open())).toMatchObject({ failure: 'transient', upstreamStatus: 500 });
      await fixture.upstream.calls[0]?.closed;
      expect(fixture.upstream.calls[0]?.written()).toBeLessThan(200 * 65_536);
    });

    it('sends nothing where that is forbidden at the last moment', async () => {
      fixture.upstream.script(stream(text('a'), STOP, DONE));
      const tooLate = new GatewayError('wait_exceeds_deadline', 'too late');
      const forbid = (): never => {
        throw tooLate;
      };
      expect(await failureOf(fixture.open({ onSent: forbid }))).toBe(tooLate);
      expect(fixture.upstream.calls).toHaveLength(0);
      await readAll(await fixture.open());
      expect(fixture.upstream.calls).toHaveLength(1);
    });

    it('says so where nothing was ever sent', async () => {
      await fixture.upstream.stop();
      let sent = 0;
      const thrown = await failureOf(fixture.open({ onSent: () => (sent += 1) }));
      expect(thrown).toMatchObject({ code: 'upstream_unavailable', retryable: true, sent: false });
      expect(sent).toBe(0);
      fixture.upstream = await ScriptedUpstream.start();
    });
  });

  describe('a break after output', () => {
    it('hands out what came, then says that it is incomplete', async () => {
      fixture.upstream.script({ ...stream(ROLE, text('a'), 'data: {"choices":[{"ind'), end: 'cut' });
      const answer = await fixture.open();
      const frames: string[] = [];
      const reading = (async () => {
        for await (const frame of answer.frames) frames.push(Buffer.from(frame.bytes).toString());
      })();
      const thrown = await failureOf(reading);
      expect(frames).toEqual([ROLE, text('a')]);
      expect(thrown).toMatchObject({ code: 'stream_truncated', failure: 'transient', committed: true });
      expect(thrown).toMatchObject({ retryable: false, origin: 'provider', sent: true });
    });

    it('takes an end without finish as a cut', async () => {
      fixture.upstream.script(stream(text('a')));
      expect(await failureOf(readAll(await fixture.open()))).toMatchObject({
        code: 'stream_truncated',
        committed: true,
      });
    });

    it("throws the provider's error instead of forwarding it", async () => {
      fixture.upstream.script(stream(text('a'), error(503, 'overloaded_error'), DONE));
      const answer = await fixture.open();
      const frames: string[] = [];
      const reading = (async () => {
        for await (const frame of answer.frames) frames.push(Buffer.from(frame.bytes).toString());
      })();
      const thrown = await failureOf(reading);
      expect(frames).toEqual([text('a')]);
      expect(thrown).toMatchObject({ failure: 'overloaded', committed: true, retryable: false });
      expect(JSON.parse(Buffer.from(thrown.passThrough?.body ?? []).toString())).toMatchObject({
        error: { type: 'overloaded_error' },
      });
    });
  });

  describe('waits', () => {
    const IMPATIENT = 60;
    it.each<[string, keyof ClientOptions['timeouts'], ScriptedAnswer, boolean]>([
      ['headers', 'headersMs', { silent: true }, true],
      ['first_frame', 'firstFrameMs', { ...stream(ROLE), end: 'hang' }, true],
      ['first_frame', 'firstFrameMs', { headers: SSE, end: 'hang' }, true],
      ['total', 'totalMs', { silent: true }, false],
    ])('%s', async (phase, limit, answer, retryable) => {
      fixture.start({ timeouts: { ...PATIENT, [limit]: IMPATIENT } });
      fixture.upstream.script(answer);
      const begun = performance.now();
      const thrown = await failureOf(fixture.open());
      expect(performance.now() - begun).toBeGreaterThanOrEqual(IMPATIENT - 1);
      expect(thrown).toMatchObject({
        code: 'upstream_timeout',
        phase,
        retryable,
        sent: true,
        committed: false,
      });
      await fixture.upstream.calls[0]?.closed;
    });

    it('connect: no connection is free', async () => {
      fixture.start({ connections: 1, timeouts: { ...PATIENT, connectMs: IMPATIENT } });
      fixture.upstream.script({ silent: true });
      const first = fixture.open();
      await fixture.upstream.arrived(1);
      const thrown = await failureOf(fixture.open());
      expect(thrown).toMatchObject({
        code: 'upstream_timeout',
        phase: 'connect',
        retryable: true,
        sent: false,
      });
      fixture.abort.abort(new Error('done'));
      await expect(first).rejects.toThrow('done');
      expect(fixture.upstream.calls).toHaveLength(1);
    });

    it('idle is final', async () => {
      fixture.start({ timeouts: { ...PATIENT, idleMs: IMPATIENT } });
      fixture.upstream.script({ ...stream(text('a')), end: 'hang' });
      const thrown = await failureOf(readAll(await fixture.open()));
      expect(thrown).toMatchObject({
        code: 'upstream_timeout',
        phase: 'idle',
        retryable: false,
        committed: true,
      });
    });

    it('a refusal whose body stalls is judged by its status', async () => {
      fixture.start({ timeouts: { ...PATIENT, firstFrameMs: IMPATIENT } });
      fixture.upstream.script({
        status: 429,
        headers: { 'retry-after': '3' },
        chunks: ['{"error"'],
        end: 'hang',
      });
      expect(await failureOf(fixture.open())).toMatchObject({ failure: 'rate_limit_requests', hintMs: 3000 });
    });
  });
}
