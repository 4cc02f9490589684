import type { StreamClient } from '@weir/upstream';
import type { ScriptedAnswer } from './scripted-upstream.js';
import { upstreamAnswers } from './upstream-answers.contract.js';
import { upstreamFailures } from './upstream-failures.contract.js';
import {
  PATIENT,
  UpstreamFixture,
  DONE,
  ROLE,
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
