import { House, OTHER_TEAM_KEY, question } from './harness/house.js';
import { RecordingProvider, type RecordedCall } from './harness/recording-provider.js';

const CONVERSATIONS = 5;
const REQUESTS = 6;

let provider: RecordingProvider;
let house: House;

beforeEach(async () => {
  provider = await RecordingProvider.start(30);
  house = await House.start({ baseUrl: provider.baseUrl, account: { limits: { concurrency: 20 } } });
});
afterEach(async () => {
  await house.close();
  await provider.stop();
});

function callsOf(conversation: string): readonly RecordedCall[] {
  return provider.calls.filter(({ content }) => content.startsWith(`${conversation}:`));
}

/** Each call had ended before the next one came. */
function expectSerial(calls: readonly RecordedCall[]): void {
  for (const [index, call] of calls.slice(1).entries()) {
    expect(call.from).toBeGreaterThanOrEqual(calls[index]?.to ?? Infinity);
  }
}

function overlaps(a: RecordedCall, b: RecordedCall): boolean {
  return a.from < b.to && b.from < a.to;
}

describe('five conversations of six requests, all fired together', () => {
  it('each keeps its order and is served one at a time, retries included; others go on in parallel', async () => {
    provider.throttled.add('c1:2').add('c3:0').add('c3:5');
    const asked = [];
    for (let number = 0; number < REQUESTS; number += 1) {
      for (let one = 0; one < CONVERSATIONS; one += 1) {
        const body = question({ stream: number % 2 === 0 }, `c${one}:${number}`);
        asked.push(house.chat(body, { 'x-conversation-id': `c${one}` }));
        // Connections are accepted in the order in which they were opened; two sockets are not.
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    const replies = await Promise.all(asked);
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));

    for (let one = 0; one < CONVERSATIONS; one += 1) {
      const calls = callsOf(`c${one}`);
      const answered = calls
        .map(({ content }) => content)
        .filter((content, at, all) => content !== all[at + 1]);
      expect(answered).toEqual(Array.from({ length: REQUESTS }, (_, number) => `c${one}:${number}`));
      expectSerial(calls);
    }
    expect(provider.calls).toHaveLength(CONVERSATIONS * REQUESTS + 3);
    const parallel = callsOf('c0').some((call) => callsOf('c2').some((other) => overlaps(call, other)));
    expect(parallel).toBe(true);
  });

  it('a caller that leaves lets its conversation go on', async () => {
    const controller = new AbortController();
    const headers = { 'x-conversation-id': 'c0' };
    const first = house.chat(question({}, 'c0:0'), headers);
    while (provider.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const leaver = house.openChat(question({}, 'c0:1'), headers, controller.signal).catch(() => 'gone');
    while ((await house.status()).answers.open < 2);
    const third = house.chat(question({}, 'c0:2'), headers);
    while ((await house.status()).answers.open < 3);
    controller.abort();
    expect([(await first).status, await leaver, (await third).status]).toEqual([200, 'gone', 200]);
    expect(callsOf('c0').map(({ content }) => content)).toEqual(['c0:0', 'c0:2']);
  });

  it('two teams that chose the same id do not wait for each other', async () => {
    const headers = { 'x-conversation-id': 'c0' };
    await Promise.all([
      house.chat(question({}, 'c0:search'), headers),
      house.chat(question({}, 'c0:chat'), { ...headers, authorization: `Bearer ${OTHER_TEAM_KEY}` }),
    ]);
    const [one, other] = callsOf('c0');
    if (!one || !other) throw new Error('two calls were made');
    expect(overlaps(one, other)).toBe(true);
  });
});
