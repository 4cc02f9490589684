import type { Milliseconds } from '@weir/kernel';
import { amountOf, type Block } from '../ledger/ledger.js';
import type { Dimension } from '../quota/dimension.js';
import { TINY } from '../quota/gate.js';
import type { FairQueue } from './fair-queue.js';
import type { Flow } from './flow.js';
import { loadOn } from './load.js';
import type { ModelClass } from './model-class.js';
import type { Wanted } from './reservations.js';

/** What is wanted of one of the account's dimensions, which has a place among those that a model shares. */
interface Loan {
  readonly amount: number;
  readonly dimension: Dimension;
  readonly index: number;
}

/**
 * A model with a limit of its own cannot make up for room that it did not get in time: its own window holds it to its
 * pace. So what its waiting requests may still use of the account's window is theirs. A flow that has had its fair
 * share of that window borrows only what is left beside it; below its fair share nobody is held back.
 * @returns what holds a ticket back that else might go, and when it is worth while to ask again
 */
export function lentTo({ flow, cost }: Wanted, queue: FairQueue, now: Milliseconds): Block | undefined {
  if (!hasEntitled(queue, flow)) return undefined;
  let last: Block | undefined;
  for (let index = 0; index < flow.model.shared.length; index += 1) {
    const dimension = flow.model.shared[index];
    if (dimension === undefined) continue;
    const amount = amountOf(dimension.spec.unit, cost);
    if (amount === 0 || !dimension.fits(amount, now)) continue;
    const at = lentUntil(flow, { amount, dimension, index }, queue, now);
    if (at !== undefined && !(last && at <= last.at)) last = { dimension, at };
  }
  return last;
}

/** Whether a flow that a dimension blocks leaves the next room there to a model that has had less of it. */
export function yields(flow: Flow, dimension: Dimension, queue: FairQueue, now: Milliseconds): boolean {
  const index = hasEntitled(queue, flow) ? flow.model.shared.indexOf(dimension) : -1;
  if (index < 0) return false;
  const used = usedBy(flow, index, now);
  if (used < fairShare(flow, dimension, queue, now)) return false;
  for (const model of queue.models.values())
    if (
      isEntitled(model, flow) &&
      servedOf(model, index, now) <= used / flow.team.weight &&
      usable(model, dimension, now) > 0
    )
      return true;
  return false;
}

function lentUntil(
  flow: Flow,
  { amount, dimension, index }: Loan,
  queue: FairQueue,
  now: Milliseconds,
): Milliseconds | undefined {
  const spare = dimension.spare(now);
  if (amount + wantedOf(queue, flow, dimension) <= spare) return undefined;
  const used = usedBy(flow, index, now);
  const share = fairShare(flow, dimension, queue, now);
  if (used < share) return undefined;
  // Only who has had less of it: two that have had their share do not wait for each other.
  let claimed = 0;
  for (const model of queue.models.values()) {
    if (!isEntitled(model, flow) || servedOf(model, index, now) >= used / flow.team.weight) continue;
    claimed += usable(model, dimension, now);
  }
  if (amount + claimed <= spare + TINY) return undefined;
  const own = flow.recent?.below(share, index, now) ?? Infinity;
  return Math.min(own, dimension.spareAt(amount + claimed, now));
}

/** No entitlement is more than what waits: where there is room for all of it, nobody has to count. */
function wantedOf(queue: FairQueue, flow: Flow, dimension: Dimension): number {
  let sum = 0;
  for (const model of queue.models.values())
    if (isEntitled(model, flow)) sum += loadOn(dimension, model.demand);
  return sum;
}

/** What the waiting of a model may still use of a dimension, before another of its limits stops it. */
function usable({ demand, limits }: ModelClass<Flow>, dimension: Dimension, now: Milliseconds): number {
  let part = 1;
  for (const other of limits) {
    const wanted = other === dimension ? 0 : loadOn(other, demand);
    if (wanted > 0) part = Math.min(part, other.spare(now) / wanted);
  }
  return part * loadOn(dimension, demand);
}

function hasEntitled(queue: FairQueue, flow: Flow): boolean {
  if (queue.models.size < 2) return false;
  for (const model of queue.models.values()) if (isEntitled(model, flow)) return true;
  return false;
}

function isEntitled(model: ModelClass<Flow>, flow: Flow): boolean {
  return model !== flow.model && model.isEntitled;
}

/** What counts is where a request starts: the last one may reach beyond the share, so nobody is too large for it. */
function fairShare(flow: Flow, { limit, spec }: Dimension, queue: FairQueue, now: Milliseconds): number {
  const from = now - spec.windowMs;
  let sum = 0;
  for (const model of queue.models.values()) sum += model.weightSince(from);
  const share = (limit * flow.team.weight) / Math.max(sum, flow.team.weight);
  return Math.max(TINY, share - TINY);
}

function usedBy({ recent }: Flow, index: number, now: Milliseconds): number {
  return recent?.of(index, now) ?? 0;
}

/** By weight. */
function servedOf({ recent, demand }: ModelClass<Flow>, index: number, now: Milliseconds): number {
  return (recent?.of(index, now) ?? 0) / demand.weight;
}
