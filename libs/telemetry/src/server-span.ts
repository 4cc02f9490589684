import { SpanKind } from '@opentelemetry/api';
import type { SpanContext } from '@opentelemetry/api';
import type { CallIdentity, GatewayError, Milliseconds, Target, Tokens } from '@weir/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { LogFields, Logger } from './logger.js';
import { ATTRIBUTES as A, type Outcome } from './names.js';
import { outcomeOf, outcomeOfStatus } from './outcomes.js';
import type { RecordedSpan, SpanFacts } from './recorded-span.js';
import type { RequestTrace, RequestTraces, TokenCounts } from './request-trace.js';
import type { SpanRecorder } from './span-recorder.js';
import { parseTraceparent } from './trace-context.js';

/**
 * One request, for whoever knows what becomes of it. Whoever calls `identify` must call `finish` too, after the permit
 * was settled and whatever happened: the span waits for it, so that an abort does not end it before its outcome. A request
 * that was refused before it was understood may be finished too; it is counted by its error then, else by its status.
 */
export interface RequestSpan {
  /** For logs and answers; undefined where telemetry is off. */
  readonly traceId: string | undefined;
  /** Whose key it carries and what template it names: what is refused before it is understood counts for them, too. */
  caller(team: string, template: string): void;
  /** The request is understood; once. `estimated` is what its attempts will reserve. */
  identify(identity: CallIdentity, estimated?: Tokens): void;
  /** The first frame was handed to the caller. Later calls change nothing. */
  committed(): void;
  /** The request is over. @param error what the caller was told, nothing where it got the whole answer */
  finish(error?: GatewayError): void;
}

/** Does nothing; for requests that nobody traces. */
export const UNTRACED: RequestSpan = {
  traceId: undefined,
  caller: () => undefined,
  identify: () => undefined,
  committed: () => undefined,
  finish: () => undefined,
};

const REQUEST = Symbol('request');

/** Node's request object, with our own until the response is closed. A map of them would cost more (see Roster). */
interface Traced {
  [REQUEST]?: TracedRequest | undefined;
}

/**
 * Server spans of the API's own routes, made by hooks: cheaper than an instrumentation, and named from the route. There is no
 * `url.path`: whatever a caller writes there would be in it. They are
 * not the active span while they are handled: what is below finds them by the request's identity, and an async context
 * is carried by every promise.
 */
export class ServerSpans {
  constructor(
    private readonly recorder: SpanRecorder,
    private readonly traces: RequestTraces,
    private readonly logger: Logger | undefined,
  ) {}

  /** Adds the hooks; call it before the server listens. */
  install(server: FastifyInstance): void {
    server.addHook('onRequest', (request, reply, done) => {
      this.begin(request, reply);
      done();
    });
  }

  /** @param raw Node's own request object; after the response is closed nobody is found by it */
  of(raw: object): RequestSpan {
    return (raw as Traced)[REQUEST] ?? UNTRACED;
  }

  /** Health checks, metrics and paths that do not exist make no spans. */
  private begin(request: FastifyRequest, reply: FastifyReply): void {
    const route = request.routeOptions.url;
    if (route?.startsWith('/v1/') !== true) return;
    const parent = parseTraceparent(request.headers['traceparent']);
    const asked = { requestId: request.id, method: request.method, route, parent };
    const traced = new TracedRequest(asked, this.recorder, this.traces, this.logger);
    const raw = request.raw as Traced;
    raw[REQUEST] = traced;
    // `close` comes once, after the last byte or when the caller is gone, for hijacked replies too.
    reply.raw.on('close', () => {
      raw[REQUEST] = undefined;
      traced.closed(reply.raw.headersSent ? reply.raw.statusCode : undefined, this.recorder.now());
    });
  }
}

/** What is known of a request when it arrives. */
interface Asked {
  readonly requestId: string;
  readonly method: string;
  readonly route: string;
  readonly parent: SpanContext | undefined;
}

/** What its memory holds at its end. */
interface Known {
  readonly attempts: number;
  readonly reserved: Tokens;
  readonly charged: Tokens;
  readonly refunded: Tokens;
  readonly usage: TokenCounts | undefined;
  readonly target: Target | undefined;
  readonly waitedMs: Milliseconds;
}

/**
 * A server span that ends when the response is closed and, where somebody took the request on, its outcome is known. What
 * it says is put together later, for the span and for the log.
 */
class TracedRequest implements RequestSpan, SpanFacts {
  private readonly span: RecordedSpan;
  private memory: RequestTrace | undefined;
  private known: Known | undefined;
  private team: string | undefined;
  private template: string | undefined;
  private estimated: Tokens | undefined;
  private firstChunkSeconds: number | undefined;
  private outcome: Outcome | undefined;
  private isFinished = false;
  private error: GatewayError | undefined;
  private closedAt: Milliseconds | undefined;
  private status = 0;

  constructor(
    private readonly asked: Asked,
    recorder: SpanRecorder,
    private readonly traces: RequestTraces,
    private readonly logger: Logger | undefined,
  ) {
    const name = `${asked.method} ${asked.route}`;
    this.span = recorder.start(name, { kind: SpanKind.SERVER, parent: asked.parent, facts: this });
  }

  get traceId(): string {
    return this.span.trace.traceId;
  }

  caller(team: string, template: string): void {
    this.team = team;
    this.template = template;
  }

  identify(identity: CallIdentity, estimated?: Tokens): void {
    if (this.memory !== undefined) return;
    this.memory = this.traces.begin(identity, this.span);
    this.estimated = estimated;
  }

  committed(): void {
    this.firstChunkSeconds ??= this.span.elapsed();
  }

  finish(error?: GatewayError): void {
    if (this.isFinished) return;
    this.isFinished = true;
    this.error = error;
    this.endWhenOver();
  }

  closed(status: number | undefined, at: Milliseconds): void {
    this.closedAt = at;
    this.status = status ?? CLIENT_CLOSED;
    this.endWhenOver();
  }

  private endWhenOver(): void {
    const isAwaited = this.memory !== undefined && !this.isFinished;
    if (this.closedAt !== undefined && !isAwaited) this.end(this.closedAt);
  }

  private end(at: Milliseconds): void {
    const { span, memory } = this;
    if (span.ended) return;
    this.outcome = this.outcomeNow();
    if (memory !== undefined) this.known = knownOf(memory);
    if (this.isError()) span.markError();
    span.endAt(at);
    if (this.outcome !== undefined) this.logger?.info('request', () => this.line());
  }

  describe(span: RecordedSpan): void {
    const { asked, memory, known, status, error } = this;
    span.set(A.httpMethod, asked.method).set(A.httpRoute, asked.route);
    if (memory === undefined) span.set(A.team, this.team).set(A.promptName, this.template);
    else describeIdentity(span, memory.identity, this.estimated);
    span
      .set(A.clientTimeToFirstChunk, this.firstChunkSeconds)
      .set(A.requestId, memory?.identity.requestId ?? asked.requestId)
      .set(A.httpStatus, status)
      .set(A.outcome, this.outcome)
      .set(A.errorCode, error?.code);
    if (known !== undefined) describeKnown(span, known, this.provider);
    if (this.isError()) span.set(A.errorType, error?.code ?? String(status));
  }

  private isError(): boolean {
    return this.status >= 500 || isBroken(this.error, this.status);
  }

  private get provider(): string | undefined {
    const { target } = this.known ?? {};
    return target && this.memory?.accounts.get(target.account)?.provider;
  }

  /** Reads of lists and the like have none. */
  private outcomeNow(): Outcome | undefined {
    if (this.memory === undefined && this.asked.method !== 'POST') return undefined;
    return this.isFinished ? outcomeOf(this.error) : outcomeOfStatus(this.status);
  }

  /** What a log line says of a request: names and numbers, no content. */
  private line(): LogFields {
    const { method, route } = this.asked;
    const { requestId, model, team, template, priority } = this.memory?.identity ?? this.stranger;
    const { target, attempts, waitedMs, usage } = this.known ?? UNKNOWN;
    return {
      request_id: requestId,
      method,
      route,
      status: this.status,
      outcome: this.outcome,
      code: this.error?.code,
      duration_ms: Math.round(this.span.seconds * 1000),
      model,
      account: target?.account,
      team,
      template,
      priority,
      attempts,
      waited_ms: waitedMs === undefined ? undefined : Math.round(waitedMs),
      input_tokens: usage?.inputTokens,
      output_tokens: usage?.outputTokens,
      trace_id: this.traceId,
    };
  }

  /** Whoever asked for what was not understood. */
  private get stranger(): Partial<CallIdentity> {
    const { team, template } = this;
    return {
      requestId: this.asked.requestId,
      ...(team === undefined ? {} : { team }),
      ...(template === undefined ? {} : { template }),
    };
  }
}

const UNKNOWN: Partial<Known> = {};

/** nginx's status for a caller who left before there was one; the same as `client_disconnected`. */
const CLIENT_CLOSED = 499;

/** An answer that began well and then broke: its status is 200, its ending is an error all the same. */
function isBroken(error: GatewayError | undefined, status: number): boolean {
  return error !== undefined && status < 400 && outcomeOf(error) !== 'cancelled';
}

function describeIdentity(span: RecordedSpan, identity: CallIdentity, estimated: Tokens | undefined): void {
  span
    .set(A.operation, identity.operation)
    .set(A.requestModel, identity.model)
    .set(A.team, identity.team)
    .set(A.promptName, identity.template)
    .set(A.priority, identity.priority)
    .set(A.tokensEstimated, estimated);
}

function describeKnown(span: RecordedSpan, known: Known, provider: string | undefined): void {
  span
    .set(A.attempts, known.attempts)
    .set(A.tokensReserved, known.reserved)
    .set(A.tokensUsed, known.charged)
    .set(A.tokensRefunded, known.refunded)
    .set(A.inputTokens, known.usage?.inputTokens)
    .set(A.outputTokens, known.usage?.outputTokens)
    .set(A.account, known.target?.account)
    .set(A.provider, provider);
}

function knownOf({ attempts, tokens, usage, lastTarget, waitedMs }: RequestTrace): Known {
  const { reserved, charged, refunded } = tokens;
  return { attempts, reserved, charged, refunded, usage, target: lastTarget, waitedMs };
}
