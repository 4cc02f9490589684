import { digestKey } from '@weir/config';
import { errorIn, type Reply } from './harness/http-caller.js';
import {
  eventually,
  House,
  OTHER_TEAM_KEY,
  pause,
  question,
  TEAM_KEY,
  type HouseOptions,
} from './harness/house.js';

let house: House;

async function start(options: HouseOptions): Promise<void> {
  house = await House.start(options);
}
afterEach(() => house.close());

/** The gateway's own no: at once, in OpenAI's shape, with an honest time, and nothing was sent. */
async function expectRefusal(reply: Reply, status: number, code: string): Promise<void> {
  expect(reply.status).toBe(status);
  expect(reply.headers).toMatchObject({
    'content-type': 'application/json',
    'x-weir-origin': 'gateway',
    'x-weir-reason': code,
    'x-should-retry': 'false',
  });
  expect(errorIn(reply.text)).toMatchObject({ code });
  expect(reply.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  const { limiter } = await house.status();
  expect([limiter.waiting, limiter.open]).toEqual([0, 0]);
}

function hintOf({ headers }: Reply): number {
  const ms = Number(headers['retry-after-ms']);
  expect(headers['retry-after']).toBe(String(Math.max(1, Math.ceil(ms / 1000))));
  return ms;
}

describe('refused early', () => {
  it('cost_exceeds_capacity: what no window can hold', async () => {
    await start({ account: { limits: { tokensPerMinute: 1000 } } });
    const reply = await house.chat(question({ max_tokens: 5000 }));
    await expectRefusal(reply, 400, 'cost_exceeds_capacity');
    expect(errorIn(reply.text)).toMatchObject({ param: 'max_tokens', type: 'invalid_request_error' });
    expect(errorIn(reply.text).message).toMatch(/tokens.*1000.*max_tokens/);
    expect((await house.sim.total()).received).toBe(0);
  });

  it('wait_exceeds_deadline: with the time after which it would be granted', async () => {
    await start({ account: { limits: { requestsPerMinute: 1, shape: 'sliding' }, windowSeconds: 1 } });
    expect((await house.chat(question())).status).toBe(200);
    const reply = await house.chat(question(), { 'x-weir-max-wait-ms': '100' });
    await expectRefusal(reply, 429, 'wait_exceeds_deadline');
    const hint = hintOf(reply);
    expect(hint).toBeGreaterThan(150);
    expect(hint).toBeLessThanOrEqual(1100);
    expect((await house.sim.total()).received).toBe(1);

    await pause(hint);
    const later = await house.chat(question(), { 'x-weir-max-wait-ms': '100' });
    expect(later.status).toBe(200);
  });

  it('team_share_exceeded: the team\u2019s own limit, and other teams do not feel it', async () => {
    await start({
      teams: [
        { id: 'search', keys: [digestKey(TEAM_KEY)], limits: { requestsPerMinute: 1 } },
        { id: 'chat', keys: [digestKey(OTHER_TEAM_KEY)] },
      ],
    });
    expect((await house.chat(question())).status).toBe(200);
    const reply = await house.chat(question(), { 'x-weir-max-wait-ms': '1000' });
    await expectRefusal(reply, 429, 'team_share_exceeded');
    expect(hintOf(reply)).toBeGreaterThan(1500);
    expect(errorIn(reply.text).message).toContain('team:search:requests');
    expect((await house.sim.total()).received).toBe(1);
    const other = await house.chat(question(), { authorization: `Bearer ${OTHER_TEAM_KEY}` });
    expect(other.status).toBe(200);
  });

  it('queue_full: of the process and of a team', async () => {
    await start({ account: { limits: { concurrency: 1 } }, queue: { maxDepth: 2, maxDepthPerTeam: 1 } });
    await house.sim.behaviour({ frames: 1000, tokensPerSecond: 100 });
    const controller = new AbortController();
    const other = { authorization: `Bearer ${OTHER_TEAM_KEY}` };
    const running = await house.openChat(question({ stream: true }), {}, controller.signal);
    running.on('error', () => undefined);
    const waits = (headers: Record<string, string>): Promise<unknown> =>
      house.openChat(question(), headers, controller.signal).catch(() => 'gone');
    const first = waits({});
    await eventually(
      () => house.status(),
      ({ limiter }) => limiter.waiting === 1,
    );
    const team = await house.chat(question());
    const second = waits(other);
    await eventually(
      () => house.status(),
      ({ limiter }) => limiter.waiting === 2,
    );
    const whole = await house.chat(question(), other);
    controller.abort();
    expect([await first, await second]).toEqual(['gone', 'gone']);
    await house.quiet();
    await expectRefusal(team, 503, 'queue_full');
    expect(errorIn(team.text).message).toContain('The team has 1');
    await expectRefusal(whole, 503, 'queue_full');
    expect(errorIn(whole.text).message).toContain('The gateway has 2');
    for (const reply of [team, whole]) expect(hintOf(reply)).toBeGreaterThan(0);
    expect((await house.sim.total()).received).toBe(1);
  });

  it('no wait at all is allowed: a request that need not wait is served', async () => {
    await start({ account: { limits: { concurrency: 1 } } });
    const reply = await house.chat(question(), { 'x-weir-max-wait-ms': '0' });
    expect(reply.status).toBe(200);
  });

  it('a wait that comes to its deadline ends there, and not before', async () => {
    await start({ account: { limits: { concurrency: 1 } } });
    await house.sim.behaviour({ frames: 1000, tokensPerSecond: 100 });
    const controller = new AbortController();
    const running = await house.openChat(question({ stream: true }), {}, controller.signal);
    running.on('error', () => undefined);
    const before = performance.now();
    const reply = await house.chat(question(), { 'x-weir-max-wait-ms': '300' });
    expect(performance.now() - before).toBeGreaterThanOrEqual(300);
    controller.abort();
    await house.quiet();
    await expectRefusal(reply, 429, 'wait_exceeds_deadline');
    expect((await house.sim.total()).received).toBe(1);
  });
});
