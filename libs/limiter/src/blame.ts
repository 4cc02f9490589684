import type { FailureClass, Milliseconds } from '@weir/kernel';
import type { Vector } from './ledger/ledger.js';
import type { DimensionUnit } from './limiter.js';
import { ONE_EVENT_MS } from './quota/defaults.js';
import type { Dimension } from './quota/dimension.js';

const UNITS: Partial<Record<FailureClass, readonly DimensionUnit[]>> = {
  rate_limit_requests: ['requests', 'requests_per_day'],
  rate_limit_tokens: ['tokens', 'input_tokens', 'output_tokens'],
  concurrency: ['slots'],
};
/**
 * A model is suspected where chance alone would have refused nobody but it with less than this probability. Not less: what its
 * account learns of it meanwhile costs all models, what it learns of its account costs itself.
 */
const CHANCE = 0.55;

/** Events in a row that met one model of an account, however long they took. */
interface Run {
  readonly own: Dimension;
  readonly events: number;
  /** When the last one began. */
  readonly at: Milliseconds;
}

/**
 * Which dimension a refusal is about; providers seldom say. The fuller one, the account's where they are as full. But the
 * account's would refuse its models as often as they call: where one model alone is refused again and again, it is
 * the model's.
 */
export class Blame {
  /** By the account's dimension. */
  private readonly runs = new Map<Dimension, Run>();

  /** One of the provider's that count what the failure is about; without one, the target itself. */
  of(vector: Vector, failure: FailureClass | undefined, now: Milliseconds): Dimension | undefined {
    const units = (failure && UNITS[failure]) ?? [];
    const own = fullest(vector, 'model', units, now);
    const account = fullest(vector, 'account', units, now);
    if (!account) return own ?? ownRequests(vector);
    const events = this.count(account, own, now);
    if (!own) return account;
    if (fullness(own, now) > fullness(account, now)) return own;
    const part = own.spec.unit === account.spec.unit ? own.used(now) / account.used(now) : 1;
    // The first one is no evidence: some model had to be the first.
    return part ** (events - 1) < CHANCE ? own : account;
  }

  private count(account: Dimension, own: Dimension | undefined, now: Milliseconds): number {
    const run = this.runs.get(account);
    if (!own) {
      this.runs.delete(account);
      return 1;
    }
    if (run?.own === own && now - run.at < ONE_EVENT_MS) return run.events;
    const events = run?.own === own ? run.events + 1 : 1;
    this.runs.set(account, { own, events, at: now });
    return events;
  }
}

/** What only this target is counted by. */
export function ownRequests(vector: Vector): Dimension | undefined {
  return vector.find(({ spec }) => spec.scope === 'model' && spec.unit === 'requests');
}

function fullest(
  vector: Vector,
  scope: 'account' | 'model',
  units: readonly DimensionUnit[],
  now: Milliseconds,
): Dimension | undefined {
  let most: Dimension | undefined;
  for (const dimension of vector) {
    const { spec, limit } = dimension;
    if (spec.scope !== scope || !units.includes(spec.unit) || limit === Infinity) continue;
    if (most === undefined || fullness(dimension, now) > fullness(most, now)) most = dimension;
  }
  return most;
}

function fullness(dimension: Dimension, now: Milliseconds): number {
  return dimension.limit > 0 ? dimension.used(now) / dimension.limit : Infinity;
}
