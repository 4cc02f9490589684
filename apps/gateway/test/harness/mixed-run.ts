import type { CollectorStandIn } from './collector-stand-in.js';
import { eventually, pause } from './house.js';
import { send } from './http-caller.js';
import { ofModel, readMetrics, sumOf } from './metrics-reading.js';
import { MODELS, type Ask, type MixedCallers } from './mixed-callers.js';
import { running, type SimulatorControl } from './simulator-control.js';

/** In all, at least. */
export const REQUESTS = 20_000;
/** Of a pile: faults are ordered before each. */
const PILE = 1_000;
const AT_ONCE = 80;
/** Of a pile that meets quotas. */
const TIGHT = 150;
/** Who leaves in the middle of a stream, and who before its head. */
export const LEAVE_STREAMS = 120;
export const LEAVE_EARLY = 60;
const LEAVE_QUEUE = 100;
/** Longer than the exporter tries: some spans must be lost. */
const COLLECTOR_GONE_MS = 14_000;
/** Of a question that is well asked, as the simulator counts: text / 4, 3 a message, 3 for the answer. */
const PROMPT_TOKENS = 8;
/** The first frame of a stream has no token. */
const ROLE_FRAMES = 1;
export const ADMIN_KEY = 'admin-key';
const [A, B, C] = MODELS;

/** 429s that nobody deserved: with a hint, and without. */
const THROTTLES = [{ 'retry-after-ms': '40' }, {}].map((headers) => ({
  times: 3,
  status: 429,
  headers,
  body: { error: { message: 'Rate limit reached on requests per min.', type: 'requests' } },
}));
/** Whatever else may go wrong at a provider. */
const FAULTS = [
  { times: 4, status: 500 },
  { times: 3, status: 503, headers: { 'retry-after-ms': '10' } },
  { times: 2, status: 529 },
  { times: 2, status: 400, body: { error: { message: 'no', type: 'invalid_request_error' } } },
  { times: 1, html: true },
  { times: 4, cutAtByte: 10 },
  { times: 4, cutAtByte: 900 },
  { times: 4, cutAtByte: 2_000 },
  { times: 3, resetAfterHeaders: true },
  { times: 4, errorAtFrame: { frame: 1, body: { error: { message: 'overloaded', code: 500 } } } },
  { times: 4, errorAtFrame: { frame: 6, body: { error: { message: 'overloaded', code: 500 } } } },
  { times: 4, stallAtFrame: { frame: 5, ms: 30 } },
  { times: 2, dripBytesPerSecond: 20_000 },
];
/**
 * Everything that can happen between callers, gateway and provider, step by step. Callers leave only where nothing else
 * can happen to their request meanwhile, so that they and the gateway cannot differ about how it ended.
 */
export class MixedRun {
  /** 429s that were ordered, not deserved. */
  readonly scripted = { throttles: 0, billing: 0 };
  /** Tokens of the streams that were left: what callers saw, what the provider made, what was charged to the quota. */
  readonly cut = { seen: 0, made: 0, charged: 0 };

  constructor(
    private readonly url: string,
    private readonly sim: SimulatorControl,
    private readonly callers: MixedCallers,
    private readonly collector: CollectorStandIn,
  ) {}

  async run(): Promise<void> {
    await this.mixedRun();
    await this.leaveStreams();
    await this.leaveEarly();
    await this.leaveQueue();
    await this.spendAll();
    await this.everythingEnded();
  }

  /** Everybody at once, all kinds of faults, now and then quotas that bite; in the middle the collector is gone for a while. */
  private async mixedRun(): Promise<void> {
    await this.sim.behaviour({ firstTokenMs: 5, tokensPerSecond: 0 });
    await this.sim.quota({
      requestsPerMinute: null,
      tokensPerMinute: null,
      concurrency: null,
      windowSeconds: 0.5,
    });
    let back: Promise<void> | undefined;
    for (let pile = 0; pile * PILE < REQUESTS; pile += 1) {
      if (pile === 5) back = this.collectorGone();
      await this.sim.faults(...FAULTS, ...THROTTLES);
      this.scripted.throttles += THROTTLES.reduce((sum, fault) => sum + fault.times, 0);
      await this.callers.run(PILE, AT_ONCE);
      if (pile % 4 === 0) await this.tightRun();
    }
    await back;
    while ((await this.sim.pendingFaults()) > 0) await this.callers.run(50, 10);
  }

  /** Less than is asked for, in every unit. */
  private async tightRun(): Promise<void> {
    await this.sim.quota({ model: A, requestsPerMinute: 20 });
    await this.sim.quota({ model: B, tokensPerMinute: 1_500 });
    await this.sim.quota({ model: C, concurrency: 10 });
    await this.callers.run(TIGHT, AT_ONCE);
    await this.sim.quota({ model: A, requestsPerMinute: null });
    await this.sim.quota({ model: B, tokensPerMinute: null });
    await this.sim.quota({ model: C, concurrency: null });
  }

  private async collectorGone(): Promise<void> {
    await this.collector.stop();
    await pause(COLLECTOR_GONE_MS);
    await this.collector.start();
  }

  /** Streams that stand still after so many frames, whose callers leave when they have these. */
  private async leaveStreams(): Promise<void> {
    const charged = async (): Promise<number> =>
      sumOf(await readMetrics(this.url), 'weir_quota_tokens_total', ofModel(A));
    await this.everythingEnded();
    const before = await charged();
    // A window that nothing leaves, just begun: its peak is all that these streams cost at the provider.
    await this.sim.quota({ windowSeconds: 600, charges: 'produced' });
    await this.sim.faults({ times: LEAVE_STREAMS, model: A, stallAtFrame: { frame: 4, ms: 120_000 } });
    await Promise.all(
      Array.from({ length: LEAVE_STREAMS }, async () => {
        const ask: Ask = { ...this.callers.any([A]), stream: true, headers: {} };
        const { outgoing, head } = this.callers.begin({ ...ask, body: wellAsked(ask) });
        const incoming = await head;
        let text = '';
        for await (const chunk of incoming) {
          text += String(chunk);
          if (framesIn(text) >= 3) break;
        }
        this.cut.seen += PROMPT_TOKENS + framesIn(text) - ROLE_FRAMES;
        outgoing.destroy();
        this.callers.count(ask, 'cancelled');
      }),
    );
    await this.everythingEnded();
    this.cut.made = (await this.sim.ofModel(A)).peakTokens;
    this.cut.charged = (await charged()) - before;
  }

  /** Calls that the provider has and does not answer. */
  private async leaveEarly(): Promise<void> {
    await this.sim.faults({ times: LEAVE_EARLY, model: B, stallAtFrame: { frame: 1, ms: 120_000 } });
    const asks = Array.from({ length: LEAVE_EARLY }, (): Ask => ({ ...this.callers.any([B]), headers: {} }));
    const begun = asks.map((ask) => this.callers.begin({ ...ask, body: wellAsked(ask) }));
    for (const { head } of begun) head.catch(() => undefined);
    const there = await eventually(
      () => this.sim.ofModel(B),
      (tally) => running(tally) === LEAVE_EARLY,
      30_000,
    );
    expect(running(there)).toBe(LEAVE_EARLY);
    for (const { outgoing } of begun) outgoing.destroy();
    for (const ask of asks) this.callers.count(ask, 'cancelled');
  }

  /** A model whose provider has said no for ten seconds: half of those who wait leave, the others are served. */
  private async leaveQueue(): Promise<void> {
    await this.sim.faults({ ...THROTTLES[0]!, times: 1, model: C, headers: { 'retry-after-ms': '10000' } });
    this.scripted.throttles += 1;
    const asks = Array.from({ length: LEAVE_QUEUE }, (): Ask => ({ ...this.callers.any([C]), headers: {} }));
    const first = this.callers.ask({ ...asks[0]!, body: wellAsked(asks[0]!) });
    await eventually(
      () => this.waiting(),
      (count) => count === 1,
      9_000,
    );
    const stay = asks
      .slice(1, LEAVE_QUEUE / 2)
      .map((ask) => this.callers.ask({ ...ask, body: wellAsked(ask) }));
    const leavers = asks.slice(LEAVE_QUEUE / 2);
    const begun = leavers.map((ask) => this.callers.begin({ ...ask, body: wellAsked(ask) }));
    for (const { head } of begun) head.catch(() => undefined);
    expect(
      await eventually(
        () => this.waiting(),
        (count) => count === LEAVE_QUEUE,
        9_000,
      ),
    ).toBe(LEAVE_QUEUE);
    for (const { outgoing } of begun) outgoing.destroy();
    for (const ask of leavers) this.callers.count(ask, 'cancelled');
    expect(await Promise.all([first, ...stay])).toEqual(Array.from({ length: LEAVE_QUEUE / 2 }, () => 'ok'));
  }

  /** A day's quota that is spent, then a bill that is not paid: nobody is called any more. */
  private async spendAll(): Promise<void> {
    await this.sim.quota({ model: A, requestsPerDay: 1 });
    await this.callers.run(20, 1, () => ({ ...this.callers.any([A]), headers: {} }));
    await this.sim.faults({
      times: 1,
      status: 429,
      body: {
        error: {
          message: 'You exceeded your current quota.',
          type: 'insufficient_quota',
          code: 'insufficient_quota',
        },
      },
    });
    this.scripted.billing += 1;
    await this.callers.run(20, 4, () => ({ ...this.callers.any([B, C]), headers: {} }));
  }

  /** Every request that its caller counted is counted in the gateway, too, and the provider has no call open. */
  private async everythingEnded(): Promise<void> {
    await eventually(
      () => readMetrics(this.url),
      (read) =>
        sumOf(read, 'weir_requests_total') >= this.callers.total && sumOf(read, 'weir_inflight') === 0,
      20_000,
    );
    const calls = await eventually(
      () => this.sim.total(),
      (tally) => running(tally) === 0,
      20_000,
    );
    expect(running(calls)).toBe(0);
  }

  private async waiting(): Promise<number> {
    const { json } = await send(`${this.url}/admin/v1/status`, {
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
    });
    return (json as { limiter: { waiting: number } }).limiter.waiting;
  }
}

/** Frames with data that have come whole. */
function framesIn(text: string): number {
  return text
    .split('\n\n')
    .slice(0, -1)
    .filter((frame) => /^data: /m.test(frame)).length;
}

/** A question that nobody finds fault with. */
function wellAsked({ model, stream }: Ask): string {
  return JSON.stringify({ model, stream, max_tokens: 60, messages: [{ role: 'user', content: 'Well?' }] });
}
