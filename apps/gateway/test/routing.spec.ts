import { errorIn, type Reply } from './harness/http-caller.js';
import { eventually, House, MODEL, OTHER_MODEL, pause, question, type Headers } from './harness/house.js';
import { SIM_KEY } from './harness/simulator-control.js';

const SPARE_KEY = 'spare-key';
const MAIN = `main/${MODEL}`;

let house: House;

beforeAll(async () => {
  house = await House.start({
    accounts: [{ models: { [MODEL]: {} } }, { id: 'spare', apiKey: SPARE_KEY }],
    routes: {
      pool: { targets: [MAIN, `spare/${MODEL}`] },
      ladder: { targets: [MAIN], fallback: [`spare/${OTHER_MODEL}`] },
      main: { targets: [MAIN] },
    },
    retry: { budgetRatio: 1, maxAttempts: 2 },
  });
});
afterAll(() => house.close());
afterEach(async () => {
  await house.quiet();
  await house.sim.reset();
  house.reload();
  house.logLines.length = 0;
});

const SPENT = { status: 429, body: { error: { type: 'insufficient_quota', code: 'insufficient_quota' } } };
const REFUSED_KEY = { status: 401, body: { error: { message: 'no', code: 'invalid_api_key' } } };

function ask(model: string, headers: Headers = {}): Promise<Reply> {
  return house.chat(question({ model, stream: true }), headers);
}

async function received(): Promise<readonly [main: number, spare: number]> {
  const [main, spare] = [await house.sim.ofKey(SIM_KEY), await house.sim.ofKey(SPARE_KEY)];
  return [main.received, spare.received];
}

function told({ status, headers }: Reply): object {
  return { status, account: headers['x-weir-account'], attempts: headers['x-weir-attempts'] };
}

describe('a key whose spend cap is reached', () => {
  it('is not called again until its reset; the other key serves; status, metric and log say so', async () => {
    await house.sim.faults({ times: 1, key: SIM_KEY, ...SPENT, headers: { 'retry-after': '2' } });
    const since = performance.now();
    expect(told(await ask('pool'))).toEqual({ status: 200, account: 'spare', attempts: '2' });
    for (let count = 0; count < 5; count += 1)
      expect(told(await ask('pool'))).toEqual({ status: 200, account: 'spare', attempts: '1' });
    expect(await received()).toEqual([1, 6]);

    const { parked } = await house.status();
    expect(parked).toMatchObject([{ account: 'main', reason: 'quota_exhausted' }]);
    expect(parked[0]?.until).toBeGreaterThan(Date.now());
    const metrics = await house.metrics();
    expect(
      [...metrics].filter(([name]) => name.startsWith('weir_account_parked{')).map(([, value]) => value),
    ).toEqual([1]);
    const lines = house.logLines.filter((line) => line.includes('"parked"'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('"level":"warn"');
    expect(lines.join()).not.toContain(SIM_KEY);

    const refused = await ask('main');
    expect([refused.status, errorIn(refused.text).code]).toEqual([429, 'account_parked']);
    expect(refused.headers).toMatchObject({ 'x-weir-origin': 'gateway', 'x-should-retry': 'false' });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(Number(refused.headers['retry-after-ms'])).toBeLessThanOrEqual(2000);

    await eventually(
      () => house.status(),
      (status) => status.parked.length === 0,
    );
    expect(performance.now() - since).toBeGreaterThanOrEqual(2000);
    expect(told(await ask('main'))).toEqual({ status: 200, account: 'main', attempts: '1' });
  });

  it('stays parked without a reset until a person acts', async () => {
    await house.sim.faults({ times: 9, key: SIM_KEY, ...SPENT });
    const met = await ask('main');
    expect([met.status, errorIn(met.text).code]).toEqual([429, 'upstream_rate_limited']);
    const refused = await ask('main');
    expect([refused.status, errorIn(refused.text).code]).toEqual([429, 'account_parked']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect((await received())[0]).toBe(1);
    expect((await house.status()).parked[0]).not.toHaveProperty('until');
    await house.sim.reset();
    house.reload();
    expect(told(await ask('main'))).toMatchObject({ status: 200, account: 'main' });
  });
});

describe('a key that is refused', () => {
  it('is parked when it is refused twice in a row, not once', async () => {
    await house.sim.faults({ times: 1, key: SIM_KEY, ...REFUSED_KEY });
    expect(told(await ask('pool'))).toEqual({ status: 200, account: 'spare', attempts: '2' });
    expect(told(await ask('pool'))).toEqual({ status: 200, account: 'main', attempts: '1' });
    await house.sim.faults({ times: 9, key: SIM_KEY, ...REFUSED_KEY });
    expect(errorIn((await ask('main')).text).code).toBe('upstream_auth');
    expect(errorIn((await ask('main')).text).code).toBe('upstream_auth');
    expect(errorIn((await ask('main')).text).code).toBe('account_parked');
    expect(await received()).toEqual([4, 1]);
  });

  it('is parked by the provider only, not by a page that a machine on the way shows', async () => {
    await house.sim.faults({ times: 3, key: SIM_KEY, status: 403, html: true });
    for (let count = 0; count < 3; count += 1)
      expect(errorIn((await ask('main')).text).code).toBe('upstream_auth');
    expect((await house.status()).parked).toEqual([]);
    expect(told(await ask('main'))).toEqual({ status: 200, account: 'main', attempts: '1' });
  });
});

describe('a pool of keys', () => {
  it.each([
    ['fails', { status: 500 }],
    ['is overloaded', { status: 529 }],
    ['breaks off', { resetAfterHeaders: true }],
    ['answers with nothing', { status: 200, body: '' }],
  ])('serves with the other key at once where one %s', async (_, fault) => {
    await house.sim.faults({ times: 1, key: SIM_KEY, ...fault });
    expect(told(await ask('pool'))).toEqual({ status: 200, account: 'spare', attempts: '2' });
    expect(await received()).toEqual([1, 1]);
  });

  it('keeps a conversation where it was answered', async () => {
    const accounts = new Set<unknown>();
    const conversation = { 'x-conversation-id': 'c-1' };
    await house.sim.faults({ times: 1, key: SIM_KEY, status: 500 });
    for (let count = 0; count < 4; count += 1)
      accounts.add((await ask('pool', conversation)).headers['x-weir-account']);
    expect([...accounts]).toEqual(['spare']);
  });

  it('does not carry the caller’s own fault from one to the next', async () => {
    await house.sim.faults({ times: 1, status: 422, body: { error: { message: 'no' } } });
    expect((await ask('pool')).status).toBe(422);
    expect(await received()).toEqual([1, 0]);
  });
});

describe('a fallback', () => {
  it('serves when the attempts of the target are spent', async () => {
    await house.sim.faults({ times: 9, key: SIM_KEY, status: 500 });
    expect(told(await ask('ladder'))).toEqual({ status: 200, account: 'spare', attempts: '3' });
    expect(await received()).toEqual([2, 1]);
    expect((await house.sim.ofKey(SPARE_KEY)).completed).toBe(1);
  });

  it('serves when the target is parked, without a call to it', async () => {
    await house.sim.faults({ times: 1, key: SIM_KEY, ...SPENT });
    expect(told(await ask('ladder'))).toEqual({ status: 200, account: 'spare', attempts: '2' });
    expect(told(await ask('ladder'))).toEqual({ status: 200, account: 'spare', attempts: '1' });
    expect(await received()).toEqual([1, 2]);
  });

  it('is not asked after the commit point, nor for the caller’s own fault', async () => {
    await house.sim.faults({ times: 1, key: SIM_KEY, status: 400, body: { error: { message: 'no' } } });
    expect((await ask('ladder')).status).toBe(400);
    await house.sim.faults({ times: 1, key: SIM_KEY, cutAtByte: 1500 });
    const cut = await ask('ladder');
    expect(cut.status).toBe(200);
    expect(cut.text).toContain('stream_truncated');
    expect((await received())[1]).toBe(0);
  });

  it('serves those who wait for the target when it is parked meanwhile', async () => {
    // The answer drips, so that both calls are on their way before the first of them is understood.
    await house.sim.faults({ times: 2, key: SIM_KEY, ...SPENT, dripBytesPerSecond: 400 });
    const asked = [ask('ladder'), ask('ladder')];
    await pause(20);
    for (const reply of await Promise.all(asked))
      expect(told(reply)).toMatchObject({ status: 200, account: 'spare' });
    expect(house.logLines.filter((line) => line.includes('"parked"'))).toHaveLength(1);
  });
});

// The last one: the pause outlives the test.
describe('a key that is throttled for ten minutes', () => {
  it('holds nobody up who has a choice, and everybody else is told the real wait', async () => {
    await house.sim.faults({ times: 1, key: SIM_KEY, status: 429, headers: { 'retry-after': '600' } });
    expect(told(await ask('pool'))).toEqual({ status: 200, account: 'spare', attempts: '2' });
    const replies = await Promise.all(Array.from({ length: 10 }, () => ask('pool')));
    expect(replies.map(told)).toEqual(replies.map(() => ({ status: 200, account: 'spare', attempts: '1' })));
    expect(told(await ask('ladder'))).toEqual({ status: 200, account: 'spare', attempts: '1' });
    const alone = await ask('main');
    expect([alone.status, errorIn(alone.text).code]).toEqual([429, 'wait_exceeds_deadline']);
    expect(Number(alone.headers['retry-after'])).toBeGreaterThan(500);
    expect(await received()).toEqual([1, 12]);
  });
});
