import type { Milliseconds, Tokens } from '@weir/kernel';
import { FixedWindow } from '../quota/fixed-window.js';
import type { Quota } from '../quota/quota.js';
import { buildWindow } from '../quota/shape.js';
import { SlidingWindow } from '../quota/sliding-window.js';
import type { QuotaWindow } from '../quota/window.js';
import { Tally, type RefusalKind } from './tally.js';

const DAY_MS: Milliseconds = 86_400_000;

/** What a call asks for, known when it arrives. */
export interface Cost {
  readonly prompt: Tokens;
  /** The most that its answer can have. */
  readonly output: Tokens;
}

/** A quota that has no room for a call. */
export interface Blocker {
  readonly kind: Exclude<RefusalKind, 'fault'>;
  readonly limit: number;
  readonly used: number;
  readonly requested: number;
  /** Until it fits if nothing else comes. Infinity: it never will. Absent: nobody can know (slots). */
  readonly waitMs?: Milliseconds;
}

/** How one quota stands, for headers. */
export interface Standing {
  readonly limit: number;
  readonly remaining: number;
  /** Until everything is free again. */
  readonly resetMs: Milliseconds;
}

/** How the quotas of a scope stand; absent where there is no limit. */
export interface Standings {
  readonly requests?: Standing;
  readonly tokens?: Standing;
  readonly day?: Standing;
}

/** What an admitted call holds in one scope besides its slot. */
export interface Hold {
  /** Tokens of output that were made just now. */
  produce(tokens: Tokens, now: Milliseconds): void;
  /** The call is over: what it really used, prompt included. */
  settle(used: Tokens, now: Milliseconds): void;
}

/** A window and the limit that it keeps. */
interface Limited {
  readonly limit: number;
  readonly window: QuotaWindow;
}

interface Windows {
  readonly requests: Limited | undefined;
  readonly tokens: Limited | undefined;
  readonly day: Limited | undefined;
}

/** A key, or one model of a key: its quota, and the ledger's line for it. */
export class Scope {
  readonly tally = new Tally();
  private windows: Windows = { requests: undefined, tokens: undefined, day: undefined };
  private requestMeter: SlidingWindow;
  private tokenMeter: SlidingWindow;

  constructor(
    private quota: Quota,
    now: Milliseconds,
  ) {
    this.requestMeter = this.meter();
    this.tokenMeter = this.meter();
    this.retune(quota, now);
  }

  /** Length of "a minute" here. */
  get windowSeconds(): number {
    return this.quota.windowSeconds;
  }

  /**
   * A new quota. New limits apply to what was charged before; another shape or window starts empty,
   * and another window starts its peaks anew, because they were measured with another rule.
   */
  retune(quota: Quota, now: Milliseconds): void {
    const sameWindow = quota.windowSeconds === this.quota.windowSeconds;
    const sameShape = JSON.stringify(quota.shape) === JSON.stringify(this.quota.shape);
    const { requests, tokens, day } = this.windows;
    const keep = sameWindow && sameShape;
    this.quota = quota;
    const build = (unit: 'requests' | 'tokens') => (limit: number) =>
      buildWindow(quota.shape, unit, limit, quota.windowSeconds * 1000);
    this.windows = {
      requests: tuned(keep ? requests : undefined, quota.requestsPerMinute, now, build('requests')),
      tokens: tuned(keep ? tokens : undefined, quota.tokensPerMinute, now, build('tokens')),
      day: tuned(day, quota.requestsPerDay, now, (limit) => new FixedWindow(limit, DAY_MS)),
    };
    if (sameWindow) return;
    this.requestMeter = this.meter();
    this.tokenMeter = this.meter();
    Object.assign(this.tally.peak, { requests: 0, tokens: 0 });
  }

  /** Every quota that has no room for the call now. */
  blockers(cost: Cost, now: Milliseconds): readonly Blocker[] {
    const { requests, tokens, day } = this.windows;
    const blockers = [
      blocker('daily', day, 1, now),
      blocker('requests', requests, 1, now),
      blocker('tokens', tokens, this.upFront(cost), now),
    ].filter((found) => found !== undefined);
    const { concurrency } = this.quota;
    const running = this.tally.running;
    if (concurrency === undefined || running < concurrency) return blockers;
    return [...blockers, { kind: 'concurrency', limit: concurrency, used: running, requested: 1 }];
  }

  /** Charges the call to every quota; the caller has seen that nothing blocks it. */
  admit(cost: Cost, now: Milliseconds): Hold {
    this.tally.admit();
    this.windows.day?.window.take(1, now);
    this.windows.requests?.window.take(1, now);
    this.requestMeter.take(1, now);
    this.tally.peak.requests = Math.max(this.tally.peak.requests, this.requestMeter.used(now));
    const charges = this.chargeTokens(this.upFront(cost), now);
    if (this.quota.charges === 'produced') {
      return { produce: (tokens, at) => void this.chargeTokens(tokens, at), settle: () => undefined };
    }
    return {
      produce: () => undefined,
      settle: (used, at) => {
        for (const charge of charges) charge.amend(used, at);
      },
    };
  }

  /** Notes a refusal, and charges it where refusals count. */
  refuse(kind: RefusalKind, now: Milliseconds): void {
    this.tally.refuse(kind);
    if (this.quota.countsRejected) this.windows.requests?.window.penalise(1, now);
  }

  standings(now: Milliseconds): Standings {
    const { requests, tokens, day } = this.windows;
    return {
      ...(requests && { requests: standing(requests, now) }),
      ...(tokens && { tokens: standing(tokens, now) }),
      ...(day && { day: standing(day, now) }),
    };
  }

  private upFront(cost: Cost): Tokens {
    return this.quota.charges === 'reserved' ? cost.prompt + cost.output : cost.prompt;
  }

  private chargeTokens(tokens: Tokens, now: Milliseconds) {
    const window = this.windows.tokens?.window.take(tokens, now);
    const meter = this.tokenMeter.take(tokens, now);
    this.tally.peak.tokens = Math.max(this.tally.peak.tokens, this.tokenMeter.used(now));
    return window ? [window, meter] : [meter];
  }

  private meter(): SlidingWindow {
    return new SlidingWindow(Infinity, this.quota.windowSeconds * 1000);
  }
}

function tuned(
  before: Limited | undefined,
  limit: number | undefined,
  now: Milliseconds,
  build: (limit: number) => QuotaWindow,
): Limited | undefined {
  if (limit === undefined) return undefined;
  if (!before) return { limit, window: build(limit) };
  if (before.limit === limit) return before;
  before.window.retune(limit, now);
  return { limit, window: before.window };
}

function blocker(
  kind: 'daily' | 'requests' | 'tokens',
  limited: Limited | undefined,
  requested: number,
  now: Milliseconds,
): Blocker | undefined {
  const waitMs = limited?.window.waitMs(requested, now) ?? 0;
  if (!limited || waitMs <= 0) return undefined;
  const used = limited.limit - standing(limited, now).remaining;
  return { kind, limit: limited.limit, used, requested, waitMs };
}

/** `remaining` is the free share of the whole limit, also where only a part may be used at once. */
function standing({ limit, window }: Limited, now: Milliseconds): Standing {
  const remaining = Math.floor(window.room(now) * limit + ROUNDING);
  return { limit, remaining, resetMs: window.resetMs(now) };
}

/** Keeps 59 of 60 from becoming 58. */
const ROUNDING = 1e-6;
