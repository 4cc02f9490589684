import type { Milliseconds, Priority } from '@weir/kernel';
import { amountOf } from '../ledger/ledger.js';
import type { Cost } from '../limiter.js';
import type { Dimension } from '../quota/dimension.js';
import type { FairQueue } from './fair-queue.js';
import type { Flow } from './flow.js';
import { loadOn, type Load } from './load.js';

/** How long a slot of a dimension is held on average; undefined until it is known. */
export type HoldTime = (dimension: Dimension) => Milliseconds | undefined;

/** When a request is expected to be granted, and the dimension that is the last to have room. */
export interface Expectation {
  readonly at: Milliseconds;
  readonly boundBy: Dimension | undefined;
}

/** Nobody knows how long, but not at once: of two targets the one with a free slot is sooner. */
const UNKNOWN_HOLD_MS: Milliseconds = 1;

/** Waiting work that goes before a request, by the scope that it shares with it. */
interface Ahead {
  readonly account: Load;
  readonly model: Load;
  readonly team: Load;
}

/**
 * When a newcomer to a flow is granted, if nobody else comes: the work that the fair order puts before it, as a
 * fluid, on each of its dimensions. It supposes that what was reserved is spent, so it is late rather than early.
 * @param ask without a priority: somebody behind all that waits in the flow
 */
export function expect(
  queue: FairQueue,
  flow: Flow,
  ask: { readonly cost: Cost; readonly priority?: Priority },
  at: { readonly now: Milliseconds; readonly hold: HoldTime },
): Expectation {
  const ahead = aheadOf(queue, flow, ask.priority);
  let latest: Expectation = { at: at.now, boundBy: undefined };
  for (const dimension of flow.vector) {
    const load = ahead[dimension.spec.scope];
    const expected = expectOn(
      dimension,
      loadOn(dimension, load),
      amountOf(dimension.spec.unit, ask.cost),
      at,
    );
    if (expected > latest.at) latest = { at: expected, boundBy: dimension };
  }
  return latest;
}

function aheadOf(queue: FairQueue, flow: Flow, priority: Priority | undefined): Ahead {
  const ahead = { account: empty(), model: empty(), team: empty() };
  if (queue.waiting === 0) return ahead;
  const own = priority === undefined ? Math.min(1, flow.waiting) : flow.partAhead(priority);
  const place = queue.standing(flow) + (own * flow.share) / flow.team.weight;
  for (const model of queue.models.values()) {
    for (const other of model.busy) {
      const part = other === flow ? own : partBefore(place, queue.standing(other), other);
      if (part === 0) continue;
      add(ahead.account, other, part);
      if (model === flow.model) add(ahead.model, other, part);
      if (other.team === flow.team) add(ahead.team, other, part);
    }
  }
  return ahead;
}

/** Which part of a flow's waiting goes before a place: at least its next one, where that starts earlier. */
function partBefore(place: number, start: number, flow: Flow): number {
  if (start > place) return 0;
  const length = flow.share / flow.team.weight;
  return length === 0 ? 1 : Math.min(1, Math.max((place - start) / length, 1 / flow.waiting));
}

function expectOn(
  dimension: Dimension,
  ahead: number,
  amount: number,
  { now, hold }: { readonly now: Milliseconds; readonly hold: HoldTime },
): Milliseconds {
  const { limit, spec } = dimension;
  if (amount > limit || limit === 0) return Infinity;
  const from = Math.max(now, dimension.pausedUntil);
  if (limit === Infinity) return from;
  if (spec.unit === 'slots') {
    const missing = Math.max(0, ahead + amount - (limit - dimension.used(now)));
    return from + (missing * (hold(dimension) ?? UNKNOWN_HOLD_MS)) / limit;
  }
  const windows = Math.max(0, Math.ceil((ahead + amount) / limit) - 1);
  const rest = Math.max(0, ahead - windows * limit);
  const paced = dimension.earliestAfter(ahead, amount, from);
  return Math.max(
    paced,
    windows === 0 ? from : dimension.earliestAfter(rest, amount, from) + windows * spec.windowMs,
  );
}

function empty(): { requests: number; inputTokens: number; outputTokens: number } {
  return { requests: 0, inputTokens: 0, outputTokens: 0 };
}

function add(sum: ReturnType<typeof empty>, flow: Flow, part: number): void {
  sum.requests += part * flow.waiting;
  sum.inputTokens += part * flow.inputTokens;
  sum.outputTokens += part * flow.outputTokens;
}
