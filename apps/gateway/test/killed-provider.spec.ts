import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { House, question } from './harness/house.js';
import { errorIn } from './harness/http-caller.js';
import { ListenerCensus } from './harness/listener-census.js';

const CALLERS = 50;
const STREAM = question({ stream: true });

/** A provider of its own process, that speaks until it dies. */
const PROVIDER = `
  const chunk = (delta) => 'data: ' + JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason: null }] }) + '\\n\\n';
  const server = require('node:http').createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ role: 'assistant' }));
    const timer = setInterval(() => response.write(chunk({ content: 'word ' })), 20);
    response.on('close', () => clearInterval(timer));
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

async function startProvider(): Promise<{ process: ChildProcess; baseUrl: string }> {
  const child = spawn(process.execPath, ['-e', PROVIDER], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise<string>((resolve) => {
    child.stdout.once('data', (data: Buffer) => {
      resolve(data.toString().trim());
    });
  });
  return { process: child, baseUrl: `http://127.0.0.1:${port}/v1` };
}

describe.each([
  // Where a breaker opens, its next probe is a timer that belongs to no request.
  ['fail', 1000, { minAttempts: 1000 }, 0],
  ['splice', 10_000, {}, 1],
  ['continue', 10_000, {}, 1],
])(
  `a provider that is killed in the middle of ${CALLERS} streams (%s)`,
  (midStream, limitMs, breaker, timers) => {
    let house: House;
    let provider: ChildProcess;
    let census: ListenerCensus;
    const ends: { readonly text: string; readonly afterMs: number }[] = [];

    beforeAll(async () => {
      census = new ListenerCensus();
      const started = await startProvider();
      provider = started.process;
      house = await House.start({
        baseUrl: started.baseUrl,
        breaker,
        // Who is asked again waits no longer than this for a provider that does not come back.
        queue: { maxWaitMs: 3000 },
        account: { models: { 'gpt-4o': { midStream } }, limits: { concurrency: CALLERS } },
      });
      const answers = await Promise.all(Array.from({ length: CALLERS }, () => house.openChat(STREAM)));
      const texts = answers.map(async (incoming) => {
        const chunks: Buffer[] = [];
        for await (const chunk of incoming) chunks.push(chunk as Buffer);
        return { text: Buffer.concat(chunks).toString(), at: performance.now() };
      });
      await Promise.all(answers.map((incoming) => once(incoming, 'data')));
      const killedAt = performance.now();
      provider.kill('SIGKILL');
      ends.push(...(await Promise.all(texts)).map(({ text, at }) => ({ text, afterMs: at - killedAt })));
    });
    afterAll(async () => {
      provider.kill('SIGKILL');
      await house.close();
      census.end();
    });

    it('gives each caller a definite end in time: what came, and an error that says that it is not whole', () => {
      expect(ends).toHaveLength(CALLERS);
      for (const { text, afterMs } of ends) {
        expect(text).toContain('"content":"word "');
        expect(text).not.toContain('[DONE]');
        expect(errorIn(text.split('event: error\ndata: ')[1] ?? '').code).toBe('stream_truncated');
        expect(afterMs).toBeLessThan(limitMs);
      }
    });

    it('leaves no slot in use, no waiter, nothing open, no timer and no listener', async () => {
      const { answers, limiter } = await house.quiet();
      expect(answers).toEqual({ open: 0, bufferedBytes: 0 });
      expect(limiter).toMatchObject({ open: 0, waiting: 0, leaked: 0 });
      expect(limiter.dimensions.find(({ unit }) => unit === 'slots')).toMatchObject({ used: 0 });
      expect(house.time.armed).toBe(timers);
      expect(census.left).toBe(0);
    });
  },
);
