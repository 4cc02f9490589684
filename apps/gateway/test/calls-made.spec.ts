import { House, question } from './harness/house.js';
import type { Reply } from './harness/http-caller.js';

let house: House;

beforeAll(async () => {
  house = await House.start({ retry: { budgetRatio: 1 } });
});
afterAll(() => house.close());
afterEach(async () => {
  await house.quiet();
  await house.sim.reset();
  house.reload();
});

/** Account and number of attempts, as the answer tells them. */
const calls = ({ headers }: Reply): unknown => [headers['x-weir-account'], headers['x-weir-attempts']];

describe('an error', () => {
  it.each([
    ['of the caller\u2019s own', 422, 1],
    ['of the key', 401, 1],
    ['that four attempts met', 500, 4],
  ])('%s tells whom it called, and how often', async (_name, status, attempts) => {
    await house.sim.faults({ times: 9, status });
    const reply = await house.chat(question());
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(calls(reply)).toEqual(['main', String(attempts)]);
    expect((await house.sim.total()).received).toBe(attempts);
  });

  it('tells it also where the gateway ended a wait for another attempt', async () => {
    const narrow = await House.start({
      account: { limits: { requestsPerMinute: 1, shape: 'sliding' }, windowSeconds: 1 },
      retry: { budgetRatio: 1 },
    });
    await narrow.sim.faults({ times: 1, status: 500 });
    const reply = await narrow.chat(question(), { 'x-weir-max-wait-ms': '1500' });
    expect(reply.headers['x-weir-reason']).toBe('wait_exceeds_deadline');
    expect(calls(reply)).toEqual(['main', '1']);
    // This one called nobody.
    const refused = await narrow.chat(question(), { 'x-weir-max-wait-ms': '100' });
    expect(refused.headers['x-weir-reason']).toBe('wait_exceeds_deadline');
    expect(calls(refused)).toEqual([undefined, undefined]);
    await narrow.close();
  });

  it('before any attempt tells neither', async () => {
    for (const body of [question({ model: 'unknown' }), '{'])
      expect(calls(await house.chat(body))).toEqual([undefined, undefined]);
  });
});
