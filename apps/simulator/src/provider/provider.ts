import type { Clock, Milliseconds, Tokens } from '@weir/kernel';
import { QuotaBook, type QuotaChange, type QuotaTarget } from '../quota/quota.js';
import { Scope, type Blocker, type Cost, type Hold, type Standings } from './scope.js';
import type { TallyView } from './tally.js';

/** The whole ledger, as the control API shows it. */
export interface LedgerView {
  readonly version: 1;
  readonly windowSeconds: number;
  readonly keys: Readonly<Record<string, KeyView>>;
}

interface KeyView {
  readonly models: Readonly<Record<string, TallyView>>;
  readonly total: TallyView;
}

interface KeyScopes {
  readonly total: Scope;
  readonly models: Map<string, Scope>;
}

/** A call that some quota has no room for. */
export interface Refusal extends Blocker {
  readonly outcome: 'refused';
  readonly standings: Standings;
}

/**
 * Keeps every key's quotas and its ledger. A call counts at the moment at which it was read whole; it needs room
 * in its key's total and in its model's quota, and takes from both or from none.
 */
export class Provider {
  private book = new QuotaBook();
  private keys = new Map<string, KeyScopes>();
  private readonly epoch: Milliseconds;

  constructor(private readonly clock: Clock) {
    this.epoch = clock.epochNow() - clock.now();
  }

  /** Forgets everything. Calls that still run end in a ledger that nobody reads. */
  reset(): void {
    this.book = new QuotaBook();
    this.keys = new Map();
  }

  /** A key that is named here is in the ledger from now on, and so is a model of it. */
  changeQuota(target: QuotaTarget, change: QuotaChange): void {
    this.book.change(target, change);
    const { key: named, model: ofKey } = target;
    if (named !== undefined) this.scopesOf(named);
    if (named !== undefined && ofKey !== undefined) this.scopes(named, ofKey);
    const now = this.now();
    for (const [key, scopes] of this.keys) {
      scopes.total.retune(this.book.forKey(key), now);
      for (const [model, scope] of scopes.models) scope.retune(this.book.forModel(key, model), now);
    }
  }

  get quotas(): QuotaBook {
    return this.book;
  }

  /** Models that were named by a quota or a call. */
  models(): ReadonlySet<string> {
    const configured = this.book.entries().flatMap(({ model }) => model ?? []);
    const called = [...this.keys.values()].flatMap(({ models }) => [...models.keys()]);
    return new Set([...configured, ...called]);
  }

  /** A call that is refused for what it is, or because a script says so. */
  refuse(key: string, model: string): void {
    const now = this.now();
    for (const scope of this.scopes(key, model)) scope.refuse('fault', now);
  }

  /** Charges the call everywhere, or nowhere. Where several quotas are full, the one that stays so longest is named. */
  admit(key: string, model: string, cost: Cost): RunningCall | Refusal {
    const now = this.now();
    const scopes = this.scopes(key, model);
    const blockers = scopes.flatMap((scope) => scope.blockers(cost, now));
    const blocker = blockers.reduce<Blocker | undefined>(longer, undefined);
    if (!blocker) {
      const holds = scopes.map((scope) => scope.admit(cost, now));
      return new RunningCall(cost.prompt, scopes, holds, () => this.now());
    }
    for (const scope of scopes) scope.refuse(blocker.kind, now);
    return { outcome: 'refused', ...blocker, standings: tightest(scopes, now) };
  }

  ledger(): LedgerView {
    const seconds = new Set([...this.keys.values()].map(({ total }) => total.windowSeconds));
    const [shared = this.book.default.windowSeconds] = seconds;
    const keys = [...this.keys].map(([key, { total, models }]): [string, KeyView] => {
      const views = [...models].map(([model, scope]): [string, TallyView] => [model, scope.tally.view()]);
      return [key, { models: Object.fromEntries(views), total: total.tally.view() }];
    });
    return {
      version: 1,
      windowSeconds: seconds.size === 1 ? shared : this.book.default.windowSeconds,
      keys: Object.fromEntries(keys),
    };
  }

  private scopes(key: string, model: string): readonly Scope[] {
    const { total, models } = this.scopesOf(key);
    const known = models.get(model);
    if (known) return [total, known];
    const scope = new Scope(this.book.forModel(key, model), this.now());
    models.set(model, scope);
    return [total, scope];
  }

  private scopesOf(key: string): KeyScopes {
    const known = this.keys.get(key);
    if (known) return known;
    const scopes = { total: new Scope(this.book.forKey(key), this.now()), models: new Map<string, Scope>() };
    this.keys.set(key, scopes);
    return scopes;
  }

  /** Monotonic, on the scale of civil time, so that fixed windows begin where a wall clock says. */
  private now(): Milliseconds {
    return this.epoch + this.clock.now();
  }
}

/** An admitted call. It ends once, completed or aborted, and holds its slots until then. */
export class RunningCall {
  readonly outcome = 'admitted';
  private produced: Tokens = 0;
  private running = true;

  constructor(
    private readonly prompt: Tokens,
    private readonly scopes: readonly Scope[],
    private readonly holds: readonly Hold[],
    private readonly now: () => Milliseconds,
  ) {}

  /** How its quotas stand, the tightest of each kind. */
  standings(): Standings {
    return tightest(this.scopes, this.now());
  }

  /** Tokens of output that are about to be sent. */
  produce(tokens: Tokens): void {
    if (tokens === 0) return;
    this.produced += tokens;
    for (const hold of this.holds) hold.produce(tokens, this.now());
  }

  complete(): void {
    if (!this.end()) return;
    for (const { tally } of this.scopes) tally.complete(this.prompt, this.produced);
  }

  abort(): void {
    if (!this.end()) return;
    for (const { tally } of this.scopes) tally.abort();
  }

  private end(): boolean {
    const first = this.running;
    this.running = false;
    if (first) for (const hold of this.holds) hold.settle(this.prompt + this.produced, this.now());
    return first;
  }
}

/** Slots come last: nobody knows when one is free. */
function longer(first: Blocker | undefined, second: Blocker): Blocker {
  if (!first) return second;
  return (second.waitMs ?? -1) > (first.waitMs ?? -1) ? second : first;
}

function tightest(scopes: readonly Scope[], now: Milliseconds): Standings {
  const all = scopes.map((scope) => scope.standings(now));
  return all.reduce<Standings>((tight, next) => ({ ...tight, ...fuller(next, tight) }), {});
}

function fuller(next: Standings, tight: Standings): Standings {
  const { requests, tokens, day } = next;
  return {
    ...(requests && isFuller(requests, tight.requests) && { requests }),
    ...(tokens && isFuller(tokens, tight.tokens) && { tokens }),
    ...(day && isFuller(day, tight.day) && { day }),
  };
}

function isFuller(next: { remaining: number }, tight: { remaining: number } | undefined): boolean {
  return !tight || next.remaining <= tight.remaining;
}
