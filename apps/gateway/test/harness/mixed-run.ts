import { eventually, pause } from './house.js';
import { MODELS, type Ask, type MixedCallers } from './mixed-callers.js';
import { FAULTS, THROTTLES } from './mixed-faults.js';
import type { MixedHouse } from './mixed-house.js';
import { running, type SimulatorControl, type Tally } from './simulator-control.js';

/** Of a pile: faults are ordered before each. */
const PILE = 1_000;
const AT_ONCE = 80;
/** Of a pile that meets quotas. */
const TIGHT = 150;
/** Who leaves in the middle of a stream, and who before its head. */
export const LEAVE_STREAMS = 120;
export const LEAVE_EARLY = 60;
const LEAVE_QUEUE = 100;
/** The longest that half of the requests may take. */
const MIDDLE_MS = 240_000;
/** Longer than the exporter tries: some spans must be lost. */
const COLLECTOR_GONE_MS = 14_000;
/** Of a question that is well asked, as the simulator counts: text / 4, 3 a message, 3 for the answer. */
const PROMPT_TOKENS = 8;
/** The first frame of a stream has no token. */
const ROLE_FRAMES = 1;
/** Nobody but the callers who leave streams has this template, so its tokens are theirs. */
export const LEFT_TEMPLATE = 'left';
const [A, B, C] = MODELS;

/**
 * Everything that can happen between callers, gateway and provider, step by step. Callers leave only where nothing else
 * can happen to their request meanwhile, so that they and the gateway cannot differ about how it ended.
 */
export class MixedRun {
  /** 429s that were ordered, not deserved. */
  readonly scripted = { throttles: 0, billing: 0 };
  /** Tokens of the streams that were left: what callers saw, and what the provider made. */
  readonly cut = { seen: 0, made: 0 };
  /** The provider's ledger of each model at the end. */
  ledgers: ReadonlyMap<string, Tally> = new Map();
  private collectorWent = false;

  /** @param requests how many at least, in all */
  constructor(
    private readonly house: MixedHouse,
    readonly requests: number,
  ) {}

  get callers(): MixedCallers {
    return this.house.callers;
  }

  private get sim(): SimulatorControl {
    return this.house.sim;
  }

  async run(): Promise<void> {
    await Promise.all([this.everybody(), this.collectorGone()]);
    await this.house.everythingEnded();
    await this.house.spansLeft();
    this.ledgers = new Map(
      await Promise.all(MODELS.map(async (model) => [model, await this.sim.ofModel(model)] as const)),
    );
  }

  private async everybody(): Promise<void> {
    await this.mixedRun();
    await this.leaveStreams();
    await this.leaveEarly();
    await this.leaveQueue();
    await this.spendAll();
  }

  /** Everybody at once, all kinds of faults, now and then quotas that bite. */
  private async mixedRun(): Promise<void> {
    await this.sim.behaviour({ firstTokenMs: 5, tokensPerSecond: 0 });
    await this.sim.quota({
      requestsPerMinute: null,
      tokensPerMinute: null,
      concurrency: null,
      windowSeconds: 0.5,
    });
    for (let pile = 0; pile * PILE < this.requests || !this.collectorWent; pile += 1) {
      await this.sim.faults(...FAULTS, ...THROTTLES);
      this.scripted.throttles += THROTTLES.reduce((sum, fault) => sum + fault.times, 0);
      await this.callers.run(PILE, AT_ONCE);
      if (pile % 4 === 0) await this.tightRun();
    }
    // On a machine that has more to do nobody asks as fast as that: less and less is allowed, until all three have refused.
    for (let share = 0.5; share > 0.05 && !(await this.refusedForAll()); share /= 2)
      await this.tightRun(share);
    while ((await this.sim.pendingFaults()) > 0) await this.callers.run(50, 10);
  }

  /** Less than is asked for, in every unit. */
  private async tightRun(share = 1): Promise<void> {
    await this.sim.quota({ model: A, requestsPerMinute: Math.ceil(20 * share) });
    await this.sim.quota({ model: B, tokensPerMinute: Math.ceil(1_500 * share) });
    await this.sim.quota({ model: C, concurrency: Math.ceil(10 * share) });
    await this.callers.run(TIGHT, AT_ONCE);
    await this.sim.quota({ model: A, requestsPerMinute: null });
    await this.sim.quota({ model: B, tokensPerMinute: null });
    await this.sim.quota({ model: C, concurrency: null });
  }

  private async refusedForAll(): Promise<boolean> {
    const { rejected } = await this.sim.total();
    return rejected.requests > 0 && rejected.tokens > 0 && rejected.concurrency > 0;
  }

  /** Begins in the middle of the mixed run, while everybody asks, and goes on asking until it is gone. */
  private async collectorGone(): Promise<void> {
    await eventually(
      async () => this.callers.total,
      (total) => total >= this.requests / 2,
      MIDDLE_MS,
    );
    await this.house.collector.stop();
    this.collectorWent = true;
    await pause(COLLECTOR_GONE_MS);
    await this.house.collector.start();
  }

  /** Streams that stand still after so many frames, whose callers leave when they have these. */
  private async leaveStreams(): Promise<void> {
    await this.house.everythingEnded();
    // A window that nothing leaves, just begun: its peak is all that these streams cost at the provider.
    await this.sim.quota({ windowSeconds: 600, charges: 'produced' });
    await this.sim.faults({ times: LEAVE_STREAMS, model: A, stallAtFrame: { frame: 4, ms: 120_000 } });
    await Promise.all(
      Array.from({ length: LEAVE_STREAMS }, async () => {
        const ask: Ask = {
          ...this.callers.any([A]),
          template: LEFT_TEMPLATE,
          stream: true,
          headers: {},
        };
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
    await this.house.everythingEnded();
    this.cut.made = (await this.sim.ofModel(A)).peakTokens;
  }

  /** Calls that the provider has and does not answer. */
  private async leaveEarly(): Promise<void> {
    await this.sim.faults({ times: LEAVE_EARLY, model: B, stallAtFrame: { frame: 1, ms: 120_000 } });
    const asks = Array.from({ length: LEAVE_EARLY }, (): Ask => ({
      ...this.callers.any([B]),
      headers: {},
    }));
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
    await this.sim.faults({
      ...THROTTLES[0]!,
      times: 1,
      model: C,
      headers: { 'retry-after-ms': '10000' },
    });
    this.scripted.throttles += 1;
    const asks = Array.from({ length: LEAVE_QUEUE }, (): Ask => ({
      ...this.callers.any([C]),
      headers: {},
    }));
    const first = this.callers.ask({ ...asks[0]!, body: wellAsked(asks[0]!) });
    await eventually(
      () => this.house.waiting(),
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
        () => this.house.waiting(),
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
