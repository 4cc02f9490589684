import { seededRandom, type Random } from '@weir/kernel';
import { House, pause, question } from './harness/house.js';
import { ListenerCensus } from './harness/listener-census.js';
import { running } from './harness/simulator-control.js';

const CALLERS = 200;
const SLOTS = 10;
const PATIENCE_MS = 1000;

/** Where a caller was when it left. */
type Moment = 'waiting' | 'streaming' | 'answered' | 'refused';

describe('200 callers that leave at random moments', () => {
  let house: House;
  let census: ListenerCensus;
  let moments: readonly Moment[];

  beforeAll(async () => {
    census = new ListenerCensus();
    house = await House.start({
      account: { limits: { concurrency: SLOTS } },
      retry: { budgetRatio: 1, maxAttempts: 6 },
      timeouts: { idleMs: 500 },
    });
    await house.sim.behaviour({ firstTokenMs: 20, frames: 40, tokensPerSecond: 400 });
    await house.sim.faults(
      { times: 5, status: 429, headers: { 'retry-after-ms': '60' } },
      { times: 5, status: 500 },
      { times: 5, cutAtByte: 10 },
      { times: 3, stallAtFrame: { frame: 4, ms: 60_000 } },
      { times: 3, cutAtByte: 1500 },
    );
    const random = seededRandom(7);
    moments = await Promise.all(Array.from({ length: CALLERS }, (_, index) => leave(house, index, random)));
    await house.quiet();
  });
  afterAll(async () => {
    census.end();
    await house.close();
  });

  it('left in the queue and before headers, in the middle of streams, and after the end', () => {
    for (const moment of ['waiting', 'streaming', 'answered'] as const) {
      expect(moments.filter((one) => one === moment).length).toBeGreaterThan(5);
    }
  });

  it('leave no slot in use, no waiter and nothing open', async () => {
    const { answers, limiter } = await house.status();
    expect(answers).toEqual({ open: 0, bufferedBytes: 0 });
    expect(limiter).toMatchObject({ open: 0, waiting: 0, leaked: 0, flows: [] });
    const slots = limiter.dimensions.find(({ unit }) => unit === 'slots');
    expect(slots).toMatchObject({ limit: SLOTS, used: 0, room: SLOTS });
  });

  it('leave no call running at the provider', async () => {
    const tally = await house.sim.total();
    expect(tally.received).toBeGreaterThan(50);
    expect(tally.aborted).toBeGreaterThan(5);
    expect(tally.peakConcurrent).toBeLessThanOrEqual(SLOTS);
    expect(running(tally)).toBe(0);
  });

  it('leave no timer and no listener', () => {
    expect(house.time.armed).toBe(0);
    expect(census.seen).toBeGreaterThan(CALLERS / 2);
    expect(census.left).toBe(0);
  });

  it('are counted once each, and the next caller is served', async () => {
    const served = await house.chat(question());
    expect(served.status).toBe(200);
    const metrics = await house.metrics();
    const requests = [...metrics].filter(([name]) => name.startsWith('weir_requests_total'));
    // A caller that left before its request was read whole is nobody's request.
    const counted = requests.reduce((sum, [, value]) => sum + value, 0);
    expect(counted).toBeLessThanOrEqual(CALLERS + 1);
    expect(counted).toBeGreaterThan(CALLERS / 2);
    const attempts = [...metrics].filter(([name]) => name.startsWith('weir_upstream_attempts_total'));
    const { received } = await house.sim.total();
    expect(attempts.reduce((sum, [, value]) => sum + value, 0)).toBe(received);
  });
});

/** Every second one leaves by the clock, the others after some bytes of their answer, and a few not at all. */
async function leave(house: House, index: number, random: Random): Promise<Moment> {
  const controller = new AbortController();
  const abort = (): void => {
    controller.abort();
  };
  const gone = index % 2 === 0 ? pause(random.next() * PATIENCE_MS).then(abort) : undefined;
  let bytesLeft = index % 10 === 1 ? Infinity : random.next() * 6000;
  const body = question({ stream: index % 6 !== 0 }, `q${index}`);
  const answered = house.openChat(body, {}, controller.signal).then(
    async (incoming): Promise<Moment> => {
      incoming.on('data', (chunk: Buffer) => {
        bytesLeft -= chunk.length;
        if (bytesLeft < 0 && index % 2 === 1) abort();
      });
      const whole = await new Promise<boolean>((resolve) => {
        incoming.on('end', () => {
          resolve(true);
        });
        incoming.on('error', () => {
          resolve(false);
        });
      });
      if (!whole) return 'streaming';
      return incoming.statusCode === 200 ? 'answered' : 'refused';
    },
    (): Moment => 'waiting',
  );
  const [moment] = await Promise.all([answered, gone]);
  return moment;
}
