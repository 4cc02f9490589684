import { seededRandom, type GatewayError, type Milliseconds, type Target } from '@weir/kernel';
import { TokenEstimator, type Limiter, type LimiterCall, type TokenCounter, type Turn } from '@weir/limiter';
import { readChatRequest } from '@weir/protocol';
import { AttemptLoop } from '@weir/retry';
import type { StreamClient, StreamReading, UpstreamRequest } from '@weir/upstream';
import type { Outgoing } from '../delivery/outgoing.js';
import type { ChatCall } from './chat-call.js';
import { ChatPipeline } from './chat-pipeline.js';
import { Departure } from './departure.js';
import { EarlyOpen } from './early-open.js';
import { ExactCost } from './exact-cost.js';
import { MidStream } from './mid-stream/mid-stream.js';
import { requestsOf, RoutedHouse } from './routing/testing/routed-house.js';
import { Settlement } from './settlement.js';

const TARGET: Target = { account: 'a', model: 'm' };
const WINDOW_MS = 10_000;
const PATIENCE_MS = 1_000;

const READING: StreamReading = {
  ...{ frames: 0, bytes: 0, visibleBytes: 0, bufferedBytes: 0 },
  ...{ usage: undefined, finishReason: undefined, responseId: undefined, responseModel: undefined },
  ...{ firstByteAt: undefined, firstVisibleAt: undefined },
};

const NOBODY_COUNTS: TokenCounter = { count: async () => undefined, close: async () => undefined };

/** How long the process stands still. */
interface Stall {
  readonly granted?: Milliseconds;
  readonly connecting?: Milliseconds;
  /** What happens while it does after a grant. */
  readonly meanwhile?: (limiter: Limiter) => void;
}

/** The pipeline in virtual time; the process stands still whenever a permit was granted, and when a connection is opened. */
class StallingHouse {
  readonly house = new RoutedHouse({
    targets: [TARGET],
    dimensions: [requestsOf('a', 1, WINDOW_MS)],
  });
  readonly sent: UpstreamRequest[] = [];
  private readonly pipeline: ChatPipeline;

  constructor(private readonly stall: Stall) {
    const { clock, router, limiter: inner } = this.house;
    const limiter: Limiter = Object.assign(Object.create(inner) as Limiter, {
      enter: (call: LimiterCall) => this.stalled(inner.enter(call)),
    });
    const estimator = new TokenEstimator();
    this.pipeline = new ChatPipeline({
      ...{ limiter, router, client: this.client },
      exactCost: new ExactCost(NOBODY_COUNTS, estimator, clock, () => false),
      attempts: new AttemptLoop(
        { maxAttempts: 4, budgetRatio: 0.1, maxHintMs: 60_000 },
        clock,
        seededRandom(1),
      ),
      departure: new Departure(limiter, clock),
      settlement: new Settlement(limiter, estimator, () => ({})),
      earlyOpen: new EarlyOpen(() => 0, clock),
      midStream: new MidStream(() => 'fail', clock),
      reportsUsage: new Set(),
    });
  }

  get room(): number | undefined {
    return this.house.limiter.status().dimensions.find(({ unit }) => unit === 'requests')?.room;
  }

  /** What a caller of some patience gets: outgoings, or an error. */
  async ask(patienceMs: Milliseconds): Promise<readonly Outgoing[] | GatewayError> {
    const got: Outgoing[] = [];
    try {
      for await (const outgoing of this.pipeline.run(this.callOf(patienceMs), new AbortController().signal))
        got.push(outgoing);
      return got;
    } catch (thrown) {
      return thrown as GatewayError;
    }
  }

  private stalled(turn: Turn): Turn {
    const { clock } = this.house;
    return {
      leave: () => {
        turn.leave();
      },
      acquire: async (ask, signal) => {
        const permit = await turn.acquire(ask, signal);
        clock.jump(clock.now() + (this.stall.granted ?? 0));
        this.stall.meanwhile?.(this.house.limiter);
        return permit;
      },
    };
  }

  private readonly client: StreamClient = {
    open: async (request) => {
      const { clock } = this.house;
      clock.jump(clock.now() + (this.stall.connecting ?? 0));
      request.onSent?.();
      this.sent.push(request);
      const frames = (async function* () {
        yield await Promise.resolve({ bytes: Buffer.from('{}'), visible: true });
      })();
      return Promise.resolve({
        ...{ status: 200, contentType: 'application/json', headers: {}, frames, reading: READING },
      });
    },
    close: () => Promise.resolve(),
  };

  private callOf(patienceMs: Milliseconds): ChatCall {
    const now = this.house.clock.now();
    return {
      identity: {
        ...{ requestId: 'r', team: 't', model: 'chat', operation: 'chat', template: 'none' },
        priority: 'normal',
      },
      path: '/chat/completions',
      request: readChatRequest(Buffer.from('{"model":"chat","messages":[{"role":"user","content":"x"}]}')),
      characters: 1,
      targets: [TARGET],
      fallback: [],
      cost: { inputTokens: 1, outputTokens: 1 },
      arrivedAt: now,
      deadline: now + patienceMs,
    };
  }
}

describe('a process that stands still between grant and sending', () => {
  it('sends nothing after the deadline, says so with a hint, and gives the permit back whole', async () => {
    const stalling = new StallingHouse({ granted: PATIENCE_MS + 1 });
    expect(stalling.room).toBe(1);
    expect(await stalling.ask(PATIENCE_MS)).toMatchObject({
      code: 'wait_exceeds_deadline',
      retryable: true,
      sent: false,
      hintMs: 1,
    });
    expect(stalling.sent).toEqual([]);
    expect(stalling.room).toBe(1);
    expect(stalling.house.limiter.status()).toMatchObject({ waiting: 0, open: 0 });
  });

  it('has an honest hint where nobody knows when there is room again', async () => {
    const stalling = new StallingHouse({
      granted: PATIENCE_MS + 1,
      meanwhile: (limiter) => {
        limiter.setLimit('account:a:requests', 0);
      },
    });
    expect(await stalling.ask(PATIENCE_MS)).toMatchObject({
      code: 'wait_exceeds_deadline',
      hintMs: 60_000,
    });
    expect(stalling.sent).toEqual([]);
  });

  it('does not count it as a failure of the provider', async () => {
    const stalling = new StallingHouse({ granted: PATIENCE_MS + 1 });
    for (let count = 0; count < 50; count += 1) await stalling.ask(PATIENCE_MS);
    expect(stalling.house.health.breakers()).toMatchObject([{ state: 'closed' }]);
    expect(stalling.sent).toEqual([]);
  });

  it('sends where the deadline has not passed', async () => {
    const stalling = new StallingHouse({ granted: PATIENCE_MS });
    expect(await stalling.ask(PATIENCE_MS)).toMatchObject([{ kind: 'head', status: 200 }, { visible: true }]);
    expect(stalling.sent).toHaveLength(1);
    expect(stalling.room).toBe(0);
  });
});

describe('a process that stands still while a connection is opened', () => {
  it('sends nothing after the deadline for who had waited, and gives the permit back whole', async () => {
    const stalling = new StallingHouse({ connecting: PATIENCE_MS });
    const { clock, limiter } = stalling.house;
    limiter.setLimit('account:a:requests', 0);
    const waits = stalling.ask(PATIENCE_MS);
    await clock.advance(PATIENCE_MS / 2);
    limiter.setLimit('account:a:requests', 1);
    await clock.advance(0);
    expect(await waits).toMatchObject({ code: 'wait_exceeds_deadline', sent: false });
    expect(stalling.sent).toEqual([]);
    expect(stalling.room).toBe(1);
    expect(stalling.house.health.breakers()).toMatchObject([{ state: 'closed' }]);
  });

  it('sends for who did not wait: a provider may be further away than a caller wants to queue', async () => {
    const stalling = new StallingHouse({ connecting: PATIENCE_MS + 1 });
    expect(await stalling.ask(PATIENCE_MS)).toMatchObject([{ kind: 'head', status: 200 }, { visible: true }]);
    expect(stalling.sent).toHaveLength(1);
  });
});
