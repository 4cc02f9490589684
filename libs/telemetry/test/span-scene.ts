import { GatewayError, seededRandom, type CallIdentity, type Target } from '@weir/kernel';
import type { Ask, Ending, Limiter, Permit, Refund, Turn } from '@weir/limiter';
import { FakeClock, RecordingTracer, type SpanTree } from '@weir/testing';
import type { Frame, StreamClient, StreamReading, UpstreamAnswer, UpstreamRequest } from '@weir/upstream';
import { SpanKind } from '@opentelemetry/api';
import { GatheredSpans } from '../src/gathered-spans.js';
import type { RecordedSpan } from '../src/recorded-span.js';
import { RequestTraces } from '../src/request-trace.js';
import { SpanRecorder } from '../src/span-recorder.js';
import { TracedLimiter, type LimiterWatch } from '../src/traced-limiter.js';
import { TracedRetries } from '../src/traced-retries.js';
import { TracedStreamClient } from '../src/traced-stream-client.js';

export const TARGET: Target = { account: 'main', model: 'gemini-2.5-pro' };
export const ASK: Ask = { target: TARGET, cost: { inputTokens: 100, outputTokens: 50 } };
export const IDENTITY = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'gcp.gemini',
  'gen_ai.request.model': 'gemini-2.5-pro',
  'weir.account': 'main',
  'weir.team': 'search',
  'gen_ai.prompt.name': 'faq',
  'weir.priority': 'normal',
};
export const CHAT = 'chat gemini-2.5-pro';

function identity(): CallIdentity {
  return {
    requestId: 'req-1',
    team: 'search',
    model: 'chat-route',
    operation: 'chat',
    template: 'faq',
    priority: 'normal',
  };
}

export const RATE_LIMITED = new GatewayError('upstream_rate_limited', 'Too many requests.', {
  origin: 'provider',
  failure: 'rate_limit_requests',
  retryable: true,
  hintMs: 200,
  upstreamStatus: 429,
  sent: true,
});
export const LEFT = new GatewayError('client_disconnected', 'The caller left.');

/** One request below a server span, on ports whose behaviour each test writes down. */
export class Scene {
  readonly clock = new FakeClock(1000);
  readonly tracer = new RecordingTracer();
  readonly abort = new AbortController();
  readonly call = identity();
  readonly traces = new RequestTraces(
    new Map([['main', { id: 'main', provider: 'gcp.gemini', models: [{ name: TARGET.model }] }]]),
  );
  private readonly gathered = new GatheredSpans([this.tracer], this.clock);
  readonly recorder: SpanRecorder;
  readonly server: RecordedSpan;
  readonly retries: TracedRetries;
  /** @param told when its sink hears of spans; later is how the gateway does it */
  constructor(told: 'at once' | 'later' = 'at once') {
    const { clock, tracer, gathered } = this;
    this.recorder = new SpanRecorder({
      ...{ clock, random: seededRandom(7), exportRatio: 1 },
      ...(told === 'later' ? { sinks: [gathered], later: gathered } : { sinks: [tracer] }),
    });
    const kind = SpanKind.SERVER;
    this.server = this.recorder.start('POST /v1/chat/completions', { parent: undefined, kind });
    this.retries = new TracedRetries(this.recorder, this.traces);
    this.traces.begin(this.call, this.server);
  }

  enter(limiter: Partial<Limiter>): Turn {
    const traced = new TracedLimiter(fakeLimiter(limiter), this.recorder, this.traces, SILENT_WATCH);
    return traced.enter({ identity: this.call, deadline: Infinity });
  }

  open(client: StreamClient, attempt = 1, onSent?: () => void): Promise<UpstreamAnswer> {
    const request: UpstreamRequest = {
      identity: this.call,
      target: TARGET,
      attempt,
      path: '/chat/completions',
      body: new Uint8Array(),
      stream: true,
      usageInjected: false,
      ...(onSent === undefined ? {} : { onSent }),
    };
    return new TracedStreamClient(client, this.recorder, this.traces).open(request, this.abort.signal);
  }

  /** What is below the server span. */
  children(): readonly SpanTree[] {
    this.server.end();
    this.gathered.flush();
    const [root, ...others] = this.tracer.trees();
    expect(others).toEqual([]);
    return (root?.children ?? []).toSorted(
      (one, other) => one.at[0] - other.at[0] || rank(one) - rank(other),
    );
  }
}

const RANKS = ['weir.queue.wait', 'chat', 'weir.refund', 'weir.retry'];

/** Of spans that begin at one instant, those of waits and refunds are told of sooner or later than the others. */
function rank({ span }: SpanTree): number {
  const [name = '', nth = '1'] = span.split('#');
  return RANKS.length * Number(nth) + RANKS.findIndex((one) => name.startsWith(one));
}

const SILENT_WATCH: LimiterWatch = {
  waits: () => ({ leave: () => undefined }),
  holds: () => ({ leave: () => undefined }),
  charged: () => undefined,
  observed: () => undefined,
};

function fakeLimiter(some: Partial<Limiter>): Limiter {
  const unused = (): never => {
    throw new Error('not part of this scene');
  };
  return {
    enter: unused,
    eta: unused,
    quota: unused,
    observe: unused,
    setLimit: unused,
    drain: unused,
    status: () => ({
      waiting: 0,
      open: 0,
      draining: false,
      dimensions: [
        { id: 'main/rpm', scope: 'account', unit: 'requests', limit: 60, room: 1, used: 59, pausedForMs: 0 },
      ],
      flows: [],
    }),
    ...some,
  };
}

export function turnOf(acquire: Turn['acquire']): Turn {
  return { acquire, leave: () => undefined };
}

export function permit(some: Partial<Permit> = {}, refunds: readonly Refund[] = []): Permit {
  const ending = (kind: Ending['kind'], chargedTokens: number): Ending => {
    return { kind, reservedTokens: 150, chargedTokens, refunds };
  };
  return {
    id: 'p1',
    target: TARGET,
    reserved: ASK.cost,
    eligibleAt: 1000,
    grantedAt: 1000,
    boundBy: undefined,
    boundRoom: undefined,
    depthAtEntry: 0,
    sent: () => undefined,
    settle: () => ending('settled', 90),
    fail: () => ending('rejected', 0),
    cancel: () => ending('cancelled', 0),
    ...some,
  };
}

export function granting(...permits: readonly Permit[]): Partial<Limiter> {
  const left = [...permits];
  return { enter: () => turnOf(async () => left.shift() ?? permit()) };
}

const READING: StreamReading = {
  frames: 3,
  bytes: 300,
  visibleBytes: 60,
  usage: { inputTokens: 40, outputTokens: 20, totalTokens: 60, cachedInputTokens: undefined },
  finishReason: 'stop',
  responseId: 'chatcmpl-1',
  responseModel: 'gemini-2.5-pro-002',
  firstByteAt: 1010,
  firstVisibleAt: 1020,
  bufferedBytes: 0,
};

export function client(open: StreamClient['open']): StreamClient {
  return { open, close: async () => undefined };
}

/** Answers with three frames, each 10 ms after the one before; `cut` is thrown instead of the last, `told` is said of it. */
export function answering(scene: Scene, cut?: GatewayError, told: Partial<StreamReading> = {}): StreamClient {
  return client(async (request, signal) => {
    request.onSent?.();
    await scene.clock.advance(20);
    signal.addEventListener('abort', () => request.onOver?.(signal.reason as Error));
    return {
      status: 200,
      contentType: 'text/event-stream',
      headers: {},
      reading: { ...READING, ...told },
      frames: (async function* frames(): AsyncGenerator<Frame> {
        let over: GatewayError | undefined = cut ?? LEFT;
        try {
          for (let index = 0; index < 3; index += 1) {
            await scene.clock.advance(10);
            if (index === 2 && cut !== undefined) throw cut;
            yield { bytes: new Uint8Array(100), visible: true };
          }
          over = undefined;
        } finally {
          request.onOver?.(over);
        }
      })(),
    };
  });
}

export async function drain(answer: UpstreamAnswer): Promise<void> {
  for await (const frame of answer.frames) expect(frame.bytes.length).toBe(100);
}
