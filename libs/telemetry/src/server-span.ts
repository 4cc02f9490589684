import { SpanKind } from '@opentelemetry/api';
import type { CallIdentity, GatewayError, Milliseconds, Tokens } from '@weir/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { LogFields, Logger } from './logger.js';
import { ATTRIBUTES as A, type Outcome } from './names.js';
import { outcomeOf, outcomeOfStatus } from './outcomes.js';
import type { RecordedSpan } from './recorded-span.js';
import type { RequestTrace, RequestTraces } from './request-trace.js';
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
    const span = this.recorder
      .start(`${request.method} ${route}`, {
        kind: SpanKind.SERVER,
        parent: parseTraceparent(request.headers['traceparent']),
      })
      .set(A.httpMethod, request.method)
      .set(A.httpRoute, route);
    const traced = new TracedRequest(span, request.id, this.traces, this.logger);
    const raw = request.raw as Traced;
    raw[REQUEST] = traced;
    // `close` comes once, after the last byte or when the caller is gone, for hijacked replies too.
    reply.raw.once('close', () => {
      raw[REQUEST] = undefined;
      traced.closed(reply.raw.headersSent ? reply.raw.statusCode : undefined, this.recorder.now());
    });
  }
}

/** A server span that ends when the response is closed and, where somebody took the request on, its outcome is known. */
class TracedRequest implements RequestSpan {
  private memory: RequestTrace | undefined;
  private isFinished = false;
  private error: GatewayError | undefined;
  private closedAt: Milliseconds | undefined;
  private status = 0;

  constructor(
    readonly span: RecordedSpan,
    private readonly requestId: string,
    private readonly traces: RequestTraces,
    private readonly logger: Logger | undefined,
  ) {}

  get traceId(): string {
    return this.span.trace.traceId;
  }

  caller(team: string, template: string): void {
    this.span.set(A.team, team).set(A.promptName, template);
  }

  identify(identity: CallIdentity, estimated?: Tokens): void {
    if (this.memory !== undefined) return;
    this.memory = this.traces.begin(identity, this.span);
    this.span
      .set(A.operation, identity.operation)
      .set(A.requestModel, identity.model)
      .set(A.team, identity.team)
      .set(A.promptName, identity.template)
      .set(A.priority, identity.priority)
      .set(A.tokensEstimated, estimated);
  }

  committed(): void {
    if (this.span.read(A.clientTimeToFirstChunk) === undefined)
      this.span.set(A.clientTimeToFirstChunk, this.span.elapsed());
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
    const { span, status, error, memory } = this;
    if (span.ended) return;
    const outcome = this.outcome();
    span
      .set(A.requestId, memory?.identity.requestId ?? this.requestId)
      .set(A.httpStatus, status)
      .set(A.outcome, outcome)
      .set(A.errorCode, error?.code);
    if (memory !== undefined) describe(span, memory);
    if (status >= 500 || isBroken(error, status))
      span.set(A.errorType, error?.code ?? String(status)).markError();
    span.endAt(at);
    if (outcome !== undefined) this.logger?.info('request', lineOf(span, memory));
  }

  /** Reads of lists and the like have none. */
  private outcome(): Outcome | undefined {
    if (this.memory === undefined && this.span.read(A.httpMethod) !== 'POST') return undefined;
    return this.isFinished ? outcomeOf(this.error) : outcomeOfStatus(this.status);
  }
}

/** nginx's status for a caller who left before there was one; the same as `client_disconnected`. */
const CLIENT_CLOSED = 499;

/** An answer that began well and then broke: its status is 200, its ending is an error all the same. */
function isBroken(error: GatewayError | undefined, status: number): boolean {
  return error !== undefined && status < 400 && outcomeOf(error) !== 'cancelled';
}

function describe(span: RecordedSpan, { attempts, tokens, usage, lastTarget, accounts }: RequestTrace): void {
  span
    .set(A.attempts, attempts)
    .set(A.tokensReserved, tokens.reserved)
    .set(A.tokensUsed, tokens.charged)
    .set(A.tokensRefunded, tokens.refunded)
    .set(A.inputTokens, usage?.inputTokens)
    .set(A.outputTokens, usage?.outputTokens);
  if (lastTarget === undefined) return;
  span.set(A.account, lastTarget.account).set(A.provider, accounts.get(lastTarget.account)?.provider);
}

/** What a log line says of a request: names and numbers, no content. */
function lineOf(span: RecordedSpan, memory: RequestTrace | undefined): LogFields {
  return {
    request_id: span.read(A.requestId),
    method: span.read(A.httpMethod),
    route: span.read(A.httpRoute),
    status: span.read(A.httpStatus),
    outcome: span.read(A.outcome),
    code: span.read(A.errorCode),
    duration_ms: Math.round(span.seconds * 1000),
    model: span.read(A.requestModel),
    account: span.read(A.account),
    team: span.read(A.team),
    template: span.read(A.promptName),
    priority: span.read(A.priority),
    attempts: span.read(A.attempts),
    waited_ms: memory === undefined ? undefined : Math.round(memory.waitedMs),
    input_tokens: span.read(A.inputTokens),
    output_tokens: span.read(A.outputTokens),
    trace_id: span.trace.traceId,
  };
}
