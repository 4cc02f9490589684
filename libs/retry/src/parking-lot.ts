import type { GatewayError, Milliseconds, Target } from '@weir/kernel';
import { concernsKey } from './failure-meaning.js';

/** A credential that is not called. */
export interface Parked {
  readonly account: string;
  /** Set where the provider spoke of one model only. */
  readonly model: string | undefined;
  readonly reason: 'quota_exhausted' | 'auth';
  /** Monotonic; Infinity: until a person acts. */
  readonly until: Milliseconds;
}

/** Refusals of the credential in a row that park it: one odd answer (a proxy, a rollout) must not. */
const REFUSALS_IN_A_ROW = 2;

/**
 * Accounts that spent what they may spend, or whose key is refused. Waiting a little does not help them, so they are
 * not called until the reset that the provider named, or until a person acts. Holds at most one entry for each
 * configured account and model.
 */
export class ParkingLot {
  private readonly lot = new Map<string, Parked>();
  private readonly refusals = new Map<string, number>();

  /** @returns what this failure parked that was not parked before */
  failed(target: Target, error: GatewayError, now: Milliseconds): Parked | undefined {
    const { failure: reason } = error;
    // A firewall or a proxy may show a 403, too: only the provider can speak of the account.
    if (error.anonymous) return undefined;
    if (!concernsKey(error) || (reason !== 'quota_exhausted' && reason !== 'auth')) return undefined;
    const model = error.perModel ? target.model : undefined;
    const key = keyOf(target.account, model);
    if (reason === 'auth' && this.refused(key) < REFUSALS_IN_A_ROW) return undefined;
    const before = this.current(key, now);
    const until = later(before?.until, error.hintMs === undefined ? Infinity : now + error.hintMs);
    const parked = { account: target.account, model, reason, until };
    this.lot.set(key, parked);
    return before === undefined ? parked : undefined;
  }

  /** The credential was taken. */
  succeeded({ account, model }: Target): void {
    if (this.refusals.size === 0) return;
    this.refusals.delete(keyOf(account, undefined));
    this.refusals.delete(keyOf(account, model));
  }

  /** Why a target is not called now, or undefined. */
  of({ account, model }: Target, now: Milliseconds): Parked | undefined {
    if (this.lot.size === 0) return undefined;
    return this.current(keyOf(account, undefined), now) ?? this.current(keyOf(account, model), now);
  }

  /** Everything that is parked. */
  list(now: Milliseconds): readonly Parked[] {
    return [...this.lot.keys()].flatMap((key) => this.current(key, now) ?? []);
  }

  /** A person acted: everybody may try again. */
  clear(): void {
    this.lot.clear();
    this.refusals.clear();
  }

  private refused(key: string): number {
    const count = (this.refusals.get(key) ?? 0) + 1;
    this.refusals.set(key, count);
    return count;
  }

  private current(key: string, now: Milliseconds): Parked | undefined {
    const parked = this.lot.get(key);
    if (parked === undefined || parked.until > now) return parked;
    this.lot.delete(key);
    return undefined;
  }
}

/** A reset that is known comes before none; of two, the later. */
function later(before: Milliseconds | undefined, next: Milliseconds): Milliseconds {
  if (before === undefined || before === Infinity) return next;
  return next === Infinity ? before : Math.max(before, next);
}

function keyOf(account: string, model: string | undefined): string {
  return model === undefined ? account : `${account}/${model}`;
}
