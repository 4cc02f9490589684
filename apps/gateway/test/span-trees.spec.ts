import { dataOf } from './harness/chunks.js';
import {
  answered,
  attempt,
  begun,
  booked,
  decided,
  decidedAfter429,
  left,
  nth,
  posted,
  refunded,
  relayed,
  RESERVED,
  served,
  throttled,
  waited,
} from './harness/expected-spans.js';
import { eventually, House, MODEL, question } from './harness/house.js';
import { traceOf } from './harness/span-log.js';
import { treeOf, type StillTree } from './harness/span-tree.js';

const SERVER = 'POST /v1/chat/completions';
const STREAM = question({ stream: true, stream_options: { include_usage: true } });
/** The question's tokens, and those of an answer of ten frames, as the simulator counts them. */
const [INPUT, OUTPUT] = [8, 10];
const WHOLE = INPUT + OUTPUT;
const OF_ANSWER = { 'gen_ai.usage.input_tokens': INPUT, 'gen_ai.usage.output_tokens': OUTPUT };
const OK = { 'weir.outcome': 'ok', 'weir.time_to_first_chunk': '<number>' };
const GONE = { 'weir.outcome': 'cancelled', 'weir.error.code': 'client_disconnected' };
/** A role, ten pieces of text, a finish, the usage and `[DONE]`. */
const STREAMED = [14, 3389] as const;

/** How many an answer has before it is left. */
const FRAMES = 3;

let house: House;

// A house each: what one scenario leaves behind would be what the next one waits for.
beforeEach(async () => {
  house = await House.start({
    retry: { maxAttempts: 2, budgetRatio: 1 },
    account: {
      // Nothing that paces: a wait is for the slot, or for the end of a pause.
      limits: { concurrency: 1 },
      models: { [MODEL]: { midStream: 'splice', price: { inputPerMTok: 1, outputPerMTok: 2 } } },
    },
  });
  await house.sim.behaviour({ frames: 10 });
});
afterEach(() => house.close());

/** The whole tree of the nth request that ended, once everything of it has. */
async function tree(count = 1): Promise<StillTree> {
  const servers = await house.spans.until(SERVER, count);
  await house.quiet();
  return treeOf(house.spans, traceOf(servers[count - 1]!));
}

/** Somebody else's answer, which never ends, takes the only slot; @returns gives it up */
async function occupied(): Promise<() => void> {
  await house.sim.faults({ times: 1, stallAtFrame: { frame: 1, ms: 60_000 } });
  const abort = new AbortController();
  house.openChat(STREAM, {}, abort.signal).then(
    (incoming) => incoming.on('error', () => undefined).resume(),
    () => undefined,
  );
  await eventually(
    () => house.status(),
    ({ limiter }) => limiter.open === 1,
  );
  return () => {
    abort.abort();
  };
}

async function oneWaits(): Promise<void> {
  await eventually(
    () => house.status(),
    ({ limiter }) => limiter.waiting === 1,
  );
}

const RESCUED = { 'weir.retry.reason': 'rate_limit_requests' };
const PAUSED = { 'weir.bucket': 'rpm', 'weir.dimension': `model:main/${MODEL}:requests` };
const SENT = { 'http.response.status_code': 200 };
const PRICED = { ...answered(INPUT, OUTPUT), 'weir.cost.usd': 2.8e-5 };
const UNUSED = RESERVED - WHOLE;

describe('the spans of a request, as a whole', () => {
  it('plain', async () => {
    await house.chat(STREAM);
    expect(await tree()).toEqual(
      served(200, { ...OK, ...booked(1, WHOLE), ...OF_ANSWER }, [
        waited(),
        attempt(1, PRICED, [posted(1, SENT), relayed(...STREAMED)]),
        refunded(UNUSED, 'overestimate'),
      ]),
    );
  });

  it('queued: the wait names what it was for', async () => {
    const makeRoom = await occupied();
    const whole = house.chat(STREAM);
    await oneWaits();
    makeRoom();
    await whole;
    expect(await tree(2)).toEqual(
      served(200, { ...OK, ...booked(1, WHOLE), ...OF_ANSWER }, [
        waited('', {
          ...{ 'weir.bucket': 'concurrency', 'weir.dimension': 'account:main:slots', 'weir.bucket.level': 0 },
        }),
        attempt(1, PRICED, [posted(1, SENT), relayed(...STREAMED)]),
        refunded(UNUSED, 'overestimate'),
      ]),
    );
  });

  it('429, then success: the error is the attempt’s alone', async () => {
    await house.sim.faults({ times: 1, status: 429, headers: { 'retry-after-ms': '300' } });
    await house.chat(STREAM);
    expect(await tree()).toEqual(
      served(200, { ...OK, ...booked(2, WHOLE), ...OF_ANSWER }, [
        waited('#1'),
        throttled(1),
        refunded(RESERVED, 'throttled', '#1'),
        decidedAfter429(1, 'scheduled'),
        waited('#2', PAUSED),
        nth(2, attempt(2, { ...PRICED, ...RESCUED }, [nth(2, posted(2, SENT)), relayed(...STREAMED)])),
        refunded(UNUSED, 'overestimate', '#2'),
      ]),
    );
  });

  it('exhausted: the last decision is an error, the request is not: its 429 is the caller’s to see', async () => {
    await house.sim.faults({ times: 2, status: 429, headers: { 'retry-after-ms': '300' } });
    await house.chat(STREAM);
    const told = { 'weir.outcome': 'upstream_throttled', 'weir.error.code': 'upstream_rate_limited' };
    expect(await tree()).toEqual(
      served(429, { ...told, ...booked(2, 0) }, [
        waited('#1'),
        throttled(1),
        refunded(RESERVED, 'throttled', '#1'),
        nth(1, decidedAfter429(1, 'scheduled')),
        waited('#2', PAUSED),
        throttled(2, RESCUED),
        refunded(RESERVED, 'throttled', '#2'),
        nth(2, decidedAfter429(2, 'exhausted')),
      ]),
    );
  });

  it('cancelled in the queue: nothing is an error, and nothing was sent', async () => {
    const makeRoom = await occupied();
    const abort = new AbortController();
    const leaver = house.openChat(STREAM, {}, abort.signal).catch(() => undefined);
    await oneWaits();
    abort.abort();
    await leaver;
    await house.spans.until(SERVER, 1);
    makeRoom();
    expect(await tree()).toEqual(served(499, { ...GONE, ...booked(0, 0) }, [left()]));
  });

  it('cancelled mid-stream: attempt and relay end with the caller, and are no errors', async () => {
    await house.sim.faults({ times: 1, stallAtFrame: { frame: FRAMES + 1, ms: 20_000 } });
    const abort = new AbortController();
    const incoming = await house.openChat(STREAM, {}, abort.signal);
    let text = '';
    incoming.on('error', () => undefined).on('data', (part: Buffer) => (text += part.toString()));
    await eventually(
      async () => dataOf(text).length,
      (frames) => frames === FRAMES,
    );
    abort.abort();
    const used = 12;
    const first = { 'weir.time_to_first_chunk': '<number>' };
    expect(await tree()).toEqual(
      served(200, { ...GONE, ...first, ...booked(1, used) }, [
        waited(),
        attempt(1, { ...begun(), 'weir.attempt.outcome': 'cancelled' }, [
          posted(1, { ...SENT, 'error.type': 'client_disconnected' }),
          relayed(FRAMES, 765, 'client_gone'),
        ]),
        refunded(RESERVED - used, 'overestimate'),
      ]),
    );
  });

  it('spliced: the attempt that goes on says from where, and links to the one that broke', async () => {
    await house.sim.faults({ times: 1, cutAtByte: 1500 });
    await house.chat(STREAM);
    const cut = { ...begun(), 'weir.attempt.outcome': 'error', 'error.type': 'stream_truncated' };
    const again = {
      'weir.resume.number': 1,
      'weir.resume.from_chunk': 5,
      'weir.resume.result': 'joined',
      'weir.retry.reason': 'transient',
    };
    const [broken, used] = [{ status: 'error' } as const, 15];
    expect(await tree()).toEqual(
      served(200, { ...OK, ...booked(2, used + WHOLE), ...OF_ANSWER }, [
        waited('#1'),
        nth(
          1,
          attempt(
            1,
            cut,
            [
              nth(1, posted(1, { ...SENT, 'error.type': 'UND_ERR_SOCKET' }, broken)),
              relayed(6, 1500, 'upstream_broken', '#1'),
            ],
            broken,
          ),
        ),
        refunded(RESERVED - used, 'overestimate', '#1'),
        decided(1, {
          'weir.retry.reason': 'transient',
          'weir.retry.delay_ms': 50,
          'weir.retry.source': 'computed',
          'weir.retry.result': 'scheduled',
        }),
        waited('#2'),
        nth(
          2,
          attempt(2, { ...PRICED, ...again }, [
            nth(2, posted(2, SENT)),
            relayed(...STREAMED, 'complete', '#2'),
          ]),
        ),
        refunded(UNUSED, 'overestimate', '#2'),
      ]),
    );
  });
});
