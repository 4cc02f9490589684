import type { UpstreamFixture } from './upstream-fixture.js';
import { JSON_TYPE, DONE, ROLE, STOP, text, stream, readAll } from './upstream-fixture.js';

/** Answers that are good. */
export function upstreamAnswers(fixture: UpstreamFixture): void {
  describe('a good answer', () => {
    it('hands out a stream byte for byte and tells what it read', async () => {
      const usage =
        'data: {"id":"c1","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}\n\n';
      const chunks = [': hi\n\n', ROLE, text('Hel'), text('lo 🦀'), STOP, usage, DONE, ': after\n\n'];
      fixture.upstream.script(stream(...chunks));
      const answer = await fixture.open();
      expect(answer.status).toBe(200);
      expect(answer.contentType).toBe('text/event-stream');
      expect(await readAll(answer)).toBe(chunks.join(''));
      expect(answer.reading).toMatchObject({
        frames: 8,
        bytes: Buffer.byteLength(chunks.join('')),
        visibleBytes: 10,
        finishReason: 'stop',
        responseId: 'c1',
        responseModel: 'm-1',
        usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5, cachedInputTokens: undefined },
        bufferedBytes: 0,
      });
    });

    it('marks what a person sees', async () => {
      fixture.upstream.script(stream(ROLE, ': ping\n\n', text('a'), STOP, DONE));
      const answer = await fixture.open();
      const visible: boolean[] = [];
      for await (const frame of answer.frames) visible.push(frame.visible);
      expect(visible).toEqual([false, false, true, false, false]);
    });

    it('hands out a plain answer whole, untouched', async () => {
      const body =
        '\n {"id":"x", "seed": 7228414683750928123, "choices":[{"index":0,"message":{"content":"ok"},"finish_reason":"stop"}]}\n';
      fixture.upstream.script({ headers: JSON_TYPE, chunks: body.match(/.{1,7}/gs) ?? [] });
      const answer = await fixture.open({ stream: false });
      expect(answer.contentType).toBe('application/json');
      expect(await readAll(answer)).toBe(body);
      expect(answer.reading).toMatchObject({ frames: 1, finishReason: 'stop', visibleBytes: 2 });
    });

    it('sends its own headers only, and tells once that it is about to send', async () => {
      fixture.upstream.script(stream(text('a'), STOP, DONE));
      let sent = 0;
      await readAll(await fixture.open({ onSent: () => (sent += 1) }));
      expect(sent).toBe(1);
      expect(fixture.upstream.calls[0]?.path).toBe('/v1/chat/completions');
      expect(fixture.upstream.calls[0]?.body).toBe('{"model":"m"}');
      expect(Object.keys(fixture.upstream.calls[0]?.headers ?? {}).sort()).toEqual([
        ...['accept', 'accept-encoding', 'authorization', 'connection', 'content-length', 'content-type'],
        ...['host', 'user-agent'],
      ]);
      expect(fixture.upstream.calls[0]?.headers).toMatchObject({
        authorization: 'Bearer key-1',
        'accept-encoding': 'identity',
      });
    });

    it('leaves out the usage chunk that only the gateway asked for', async () => {
      const usage =
        'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}\n\n';
      fixture.upstream.script(stream(text('a'), STOP, usage, DONE));
      const answer = await fixture.open({ usageInjected: true });
      expect(await readAll(answer)).toBe(text('a') + STOP + DONE);
      expect(answer.reading.usage?.totalTokens).toBe(2);
    });

    it('takes a finish without [DONE], [DONE] without a finish, and an end that is never closed', async () => {
      fixture.upstream.script(stream(text('a'), STOP), stream(text('a'), DONE), {
        ...stream(text('a'), STOP, DONE),
        end: 'hang',
      });
      expect(await readAll(await fixture.open())).toBe(text('a') + STOP);
      expect(await readAll(await fixture.open())).toBe(text('a') + DONE);
      expect(await readAll(await fixture.open())).toBe(text('a') + STOP + DONE);
      await fixture.upstream.calls[2]?.closed;
    });

    it('turns a plain completion into the stream that was asked for', async () => {
      const message = { role: 'assistant', content: 'plain' };
      const body = JSON.stringify({ id: 'x', choices: [{ index: 0, message, finish_reason: 'stop' }] });
      fixture.upstream.script({ headers: JSON_TYPE, chunks: [body] });
      const answer = await fixture.open();
      expect(answer.contentType).toBe('text/event-stream');
      const sent = await readAll(answer);
      expect(sent).toContain('"delta":{"role":"assistant","content":"plain"}');
      expect(sent.endsWith(DONE)).toBe(true);
    });

    it('lets go of a head that stays invisible for 64 KiB', async () => {
      const padding = `: ${'x'.repeat(8190)}\n\n`;
      fixture.upstream.script({ ...stream(...Array.from({ length: 9 }, () => padding)), end: 'hang' });
      const answer = await fixture.open();
      expect(answer.reading.firstVisibleAt).toBeUndefined();
      fixture.abort.abort(new Error('enough'));
    });
  });
}
