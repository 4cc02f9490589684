import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { contentOf, simHashOf } from './harness/chunks.js';
import { readAll } from './harness/http-caller.js';
import { House, pause, question } from './harness/house.js';

/** 64 MB of text. */
const FRAMES = 1024;
const FRAME_BYTES = 64 * 1024;
const MEGABYTE = 1024 * 1024;
const IDLE_MS = 400;
const STALL_MS = 2500;

describe('a caller that stops reading in the middle of 64 MB', () => {
  let house: House;

  beforeAll(async () => {
    house = await House.start({ timeouts: { idleMs: IDLE_MS, firstFrameMs: IDLE_MS, headersMs: IDLE_MS } });
    await house.sim.quota({ charges: 'produced', tokensPerMinute: null });
    await house.sim.behaviour({ frames: FRAMES, frameBytes: FRAME_BYTES });
  });
  afterAll(() => house.close());

  it('costs a bounded number of bytes, stops the provider, and gets the rest intact', async () => {
    const incoming = await house.openChat(question({ stream: true }));
    const head = await firstBytes(incoming);

    const held: number[] = [];
    const until = performance.now() + STALL_MS;
    while (performance.now() < until) {
      held.push((await house.status()).answers.bufferedBytes);
      await pause(50);
    }
    const spoken = await tokensSpoken(house);
    await pause(300);
    expect(await tokensSpoken(house)).toBe(spoken);
    expect(Math.max(...held)).toBeLessThan(MEGABYTE);
    expect(Math.max(...held)).toBeGreaterThan(0);
    expect((await house.sim.total()).completed).toBe(0);

    const text = Buffer.concat([head, await readAll(incoming)]).toString('utf8');
    const content = contentOf(text);
    expect(Buffer.byteLength(content)).toBe(FRAMES * FRAME_BYTES);
    expect(createHash('sha256').update(content).digest('hex')).toBe(simHashOf(text));
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    await house.quiet();
    expect(await house.sim.total()).toMatchObject({ received: 1, completed: 1 });
  });

  it('is let go of at once when it leaves while it stalls', async () => {
    const controller = new AbortController();
    const incoming = await house.openChat(question({ stream: true }, 'other'), {}, controller.signal);
    incoming.on('error', () => undefined);
    await firstBytes(incoming);
    await pause(300);
    controller.abort();
    const { answers, limiter } = await house.quiet();
    expect([answers.open, answers.bufferedBytes, limiter.open]).toEqual([0, 0, 0]);
    expect(await house.sim.total()).toMatchObject({ received: 2, aborted: 1 });
    expect(house.time.armed).toBe(0);
  });

  it('does not hold up another caller', async () => {
    const controller = new AbortController();
    const stalled = await house.openChat(question({ stream: true }, 'third'), {}, controller.signal);
    stalled.on('error', () => undefined);
    await firstBytes(stalled);
    const reply = await house.chat(question({ stream: true, max_tokens: 3 }, 'fourth'));
    expect(reply.status).toBe(200);
    expect(reply.text).toContain('[DONE]');
    controller.abort();
    await house.quiet();
  });
});

/** Some bytes, and then no more until somebody asks. */
async function firstBytes(incoming: IncomingMessage): Promise<Buffer> {
  await new Promise((resolve) => incoming.once('readable', resolve));
  return (incoming.read() as Buffer | null) ?? Buffer.alloc(0);
}

/** Grows for as long as the simulator speaks. */
async function tokensSpoken(house: House): Promise<number> {
  return (await house.sim.total()).peakTokens;
}
