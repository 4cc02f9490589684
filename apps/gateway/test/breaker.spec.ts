import { errorIn, type Reply } from './harness/http-caller.js';
import { eventually, House, MODEL, OTHER_MODEL, question } from './harness/house.js';

const OPEN_MS = 400;

let house: House;

beforeAll(async () => {
  house = await House.start({
    breaker: { minAttempts: 4, openMs: OPEN_MS, maxOpenMs: 2_000 },
    retry: { maxAttempts: 1 },
  });
});
afterAll(() => house.close());

function ask(model: string, headers = {}): Promise<Reply> {
  return house.chat(question({ model, stream: true }), headers);
}

function stateOf(model: string): Promise<string | undefined> {
  return house.status().then(({ breakers }) => breakers.find((each) => each.model === model)?.state);
}

async function metric(model: string, state: string): Promise<number | undefined> {
  const found = [...(await house.metrics())].find(
    ([name]) =>
      name.startsWith('weir_breaker_state{') &&
      name.includes(`gen_ai_request_model="${model}"`) &&
      name.includes(`weir_breaker_state="${state}"`),
  );
  return found?.[1];
}

describe('a model that fails', () => {
  it('is never left alone for 429s', async () => {
    await house.sim.faults({ times: 12, status: 429, headers: { 'retry-after-ms': '1' } });
    for (let count = 0; count < 12; count += 1) expect((await ask(MODEL)).status).toBe(429);
    expect(await stateOf(MODEL)).toBe('closed');
    expect((await house.sim.total()).received).toBe(12);
    await house.sim.reset();
  });

  it('is left alone, and who can wait is served by the probes; other models go on', async () => {
    await house.sim.faults({ times: 4, model: MODEL, status: 500 });
    for (let count = 0; count < 4; count += 1) expect((await ask(MODEL)).status).toBe(502);
    const openedAt = performance.now();
    const { breakers } = await house.status();
    expect(breakers).toMatchObject([
      { account: 'main', model: MODEL, state: 'open' },
      { account: 'main', model: OTHER_MODEL, state: 'closed' },
    ]);
    expect([await metric(MODEL, 'open'), await metric(MODEL, 'closed')]).toEqual([1, 0]);

    const hasty = await ask(MODEL, { 'x-weir-max-wait-ms': '50' });
    expect([hasty.status, errorIn(hasty.text).code]).toEqual([503, 'circuit_open']);
    expect(Number(hasty.headers['retry-after-ms'])).toBeGreaterThan(50);
    expect(Number(hasty.headers['retry-after-ms'])).toBeLessThanOrEqual(OPEN_MS);
    expect((await house.sim.ofModel(MODEL)).received).toBe(4);

    const patient = Promise.all(Array.from({ length: 10 }, () => ask(MODEL)));
    expect((await ask(OTHER_MODEL)).status).toBe(200);
    for (const { status } of await patient) expect(status).toBe(200);
    expect(performance.now() - openedAt).toBeGreaterThanOrEqual(OPEN_MS - 50);
    expect(
      await eventually(
        () => stateOf(MODEL),
        (state) => state === 'closed',
      ),
    ).toBe('closed');
    expect((await house.sim.ofModel(MODEL)).received).toBe(14);
    // Its gate is nobody's limit.
    const { limiter } = await house.status();
    expect(limiter.dimensions.map(({ id }) => id).filter((id) => id.startsWith('breaker:'))).toEqual([]);
    expect(
      [...(await house.metrics()).keys()].filter(
        (name) => name.startsWith('weir_bucket_') && name.includes('concurrency'),
      ),
    ).toEqual([]);
  });

  it('is left alone for longer when a probe fails; streams that break count, and end the probing', async () => {
    await house.sim.reset();
    await house.sim.faults({ times: 9, model: OTHER_MODEL, cutAtByte: 1500 });
    const isOpen = (): Promise<boolean> => stateOf(OTHER_MODEL).then((state) => state === 'open');
    for (let count = 0; count < 9 && !(await isOpen()); count += 1)
      expect((await ask(OTHER_MODEL)).text).toContain('stream_truncated');
    expect(await isOpen()).toBe(true);
    expect((await ask(OTHER_MODEL)).text).toContain('stream_truncated');
    const { breakers } = await house.status();
    const { until, state } = breakers.find(({ model }) => model === OTHER_MODEL) ?? {};
    expect(state).toBe('open');
    expect(until).toBeGreaterThan(Date.now() + OPEN_MS);
  });

  it('leaves no timer behind when the gateway ends', async () => {
    await house.close();
    expect(house.time.armed).toBe(0);
  });
});
