import type { Attributes, SpanContext } from '@opentelemetry/api';
import { context, trace } from '@opentelemetry/api';
import type { CallIdentity, Milliseconds, Target } from '@weir/kernel';
import { ATTRIBUTES as A } from './names.js';
import { RecordedSpan } from './recorded-span.js';

/** What telemetry must know of an account. */
export interface AccountLabels {
  readonly id: string;
  /** `gen_ai.provider.name`, from the account's profile. */
  readonly provider: string;
  readonly serverAddress?: string;
  readonly serverPort?: number;
  readonly models: readonly ModelLabels[];
}

/** A configured model of an account, and what it costs where that is known. */
export interface ModelLabels {
  readonly name: string;
  /** US dollars per million tokens. */
  readonly price?: { readonly inputPerMTok: number; readonly outputPerMTok: number };
}

/** A provider's numbers, as far as it gave them. */
export interface TokenCounts {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
}

/**
 * What the spans of one request share. A permit is granted in somebody else's async context,
 * so the parent is kept here and never looked up when a span starts.
 */
export class RequestTrace {
  attempts = 0;
  /** All its waits for permits, added up. */
  waitedMs: Milliseconds = 0;
  /** The last attempt that was made, for links. */
  lastAttempt: RecordedSpan | undefined;
  lastTarget: Target | undefined;
  lastRetryReason: string | undefined;
  readonly tokens = { reserved: 0, charged: 0, refunded: 0 };
  usage: TokenCounts | undefined;
  private cached: SharedAttributes | undefined;

  constructor(
    readonly identity: CallIdentity,
    readonly parent: RecordedSpan | SpanContext | undefined,
    private readonly traces: RequestTraces,
  ) {}

  get accounts(): ReadonlyMap<string, AccountLabels> {
    return this.traces.accounts;
  }

  /** The identity that every span below the server span carries; one object per target. */
  attributesFor(target: Target): Readonly<Attributes> {
    this.lastTarget = target;
    if (this.cached?.target !== target) this.cached = this.traces.sharedBy(this.identity, target);
    return this.cached.attributes;
  }

  /** Where the provider lives, as far as the account says. */
  serverOf({ account }: Target): { readonly address: string | undefined; readonly port: number | undefined } {
    const { serverAddress, serverPort } = this.accounts.get(account) ?? {};
    return { address: serverAddress, port: serverPort };
  }

  /** US dollars by the configured price; undefined where the price or the usage is not known. */
  costOf({ account, model }: Target, usage: TokenCounts): number | undefined {
    const price = this.accounts.get(account)?.models.find(({ name }) => name === model)?.price;
    if (price === undefined) return undefined;
    const { inputTokens = 0, outputTokens = 0 } = usage;
    return (inputTokens * price.inputPerMTok + outputTokens * price.outputPerMTok) / 1e6;
  }

  /** The same for spans that belong to no target, such as a refusal at the door of the queue. */
  attributes(): Readonly<Attributes> {
    return this.lastTarget === undefined
      ? identityAttributes(this.identity)
      : this.attributesFor(this.lastTarget);
  }
}

/** Identity before a target is chosen: the model is the route's name then. */
function identityAttributes(identity: CallIdentity): Attributes {
  return {
    [A.operation]: identity.operation,
    [A.requestModel]: identity.model,
    [A.team]: identity.team,
    [A.promptName]: identity.template,
    [A.priority]: identity.priority,
  };
}

/** What requests of one kind share, and what makes their kind. */
interface SharedAttributes {
  readonly identity: CallIdentity;
  readonly target: Target;
  readonly attributes: Readonly<Attributes>;
}

function areAlike(one: CallIdentity, other: CallIdentity): boolean {
  return (
    one.operation === other.operation &&
    one.team === other.team &&
    one.template === other.template &&
    one.priority === other.priority
  );
}

/** An identity with what is remembered of its request. */
type Remembered = CallIdentity & Record<symbol, RequestTrace | undefined>;

/**
 * The traces of the requests that are alive, found by the identity object that every port call carries, and kept on it:
 * a map of requests, weak or not, costs more in garbage collection than everything that is kept in it (see Roster).
 */
export class RequestTraces {
  /** Where on an identity; one's own, so that two telemetries do not meet there. */
  private readonly key = Symbol('trace');
  /** Most requests are like the one before. */
  private latest: SharedAttributes | undefined;

  constructor(readonly accounts: ReadonlyMap<string, AccountLabels>) {}

  /** Starts the memory of a request below `parent`. */
  begin(identity: CallIdentity, parent: RecordedSpan | SpanContext | undefined): RequestTrace {
    const made = new RequestTrace(identity, parent, this);
    (identity as Remembered)[this.key] = made;
    return made;
  }

  /** What all spans of such requests carry. */
  sharedBy(identity: CallIdentity, target: Target): SharedAttributes {
    const { latest } = this;
    if (latest?.target === target && areAlike(latest.identity, identity)) return latest;
    const attributes: Attributes = {
      [A.operation]: identity.operation,
      [A.provider]: this.accounts.get(target.account)?.provider ?? 'other',
      [A.requestModel]: target.model,
      [A.account]: target.account,
      [A.team]: identity.team,
      [A.promptName]: identity.template,
      [A.priority]: identity.priority,
    };
    return (this.latest = { identity: { ...identity }, target, attributes });
  }

  /** The request's memory; made below the active span where nobody began it. */
  of(identity: CallIdentity): RequestTrace {
    return (identity as Remembered)[this.key] ?? this.begin(identity, activeSpan());
  }
}

function activeSpan(): RecordedSpan | SpanContext | undefined {
  const span = trace.getSpan(context.active());
  return span instanceof RecordedSpan ? span : span?.spanContext();
}
