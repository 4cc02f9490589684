import type { Milliseconds } from '@weir/kernel';
import { amountOf, type Block } from '../ledger/ledger.js';
import type { Dimension } from '../quota/dimension.js';
import { TINY } from '../quota/gate.js';
import type { FairQueue } from './fair-queue.js';
import type { Flow } from './flow.js';
import { loadOn } from './load.js';
import type { ModelClass } from './model-class.js';
import type { Wanted } from './reservations.js';

/** One of the account's dimensions, and its place among those that a model shares. */
interface Shared {
  readonly dimension: Dimension;
  readonly index: number;
}

/** What is wanted of it. */
interface Loan extends Shared {
  readonly amount: number;
}

/** Who goes before a flow that has had its fair share of a dimension. */
interface Precedence {
  /** When the flow may be below its share again, if it is given nothing. */
  readonly until: Milliseconds;
  readonly has: (model: ModelClass<Flow>) => boolean;
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

/**
 * A flow that a dimension blocks may have to leave the next room there to a model that goes before it, whose own room
 * comes no later.
 * @returns until when, if it does
 */
export function yieldsUntil(
  flow: Flow,
  { dimension, at }: Block,
  queue: FairQueue,
  now: Milliseconds,
): Milliseconds | undefined {
  const index = hasEntitled(queue, flow) ? flow.model.shared.indexOf(dimension) : -1;
  const before = index < 0 ? undefined : precedence(flow, { dimension, index }, queue, now);
  if (!before) return undefined;
  for (const model of queue.models.values())
    if (isEntitled(model, flow) && before.has(model) && usable(model, dimension, at) > 0) return before.until;
  return undefined;
}

function lentUntil(flow: Flow, loan: Loan, queue: FairQueue, now: Milliseconds): Milliseconds | undefined {
  const { amount, dimension } = loan;
  const spare = dimension.spare(now);
  if (amount + wantedOf(queue, flow, dimension) <= spare) return undefined;
  const before = precedence(flow, loan, queue, now);
  if (!before) return undefined;
  let claimed = 0;
  for (const model of queue.models.values())
    if (isEntitled(model, flow) && before.has(model)) claimed += usable(model, dimension, now);
  if (amount + claimed <= spare + TINY) return undefined;
  return Math.min(before.until, dimension.spareAt(amount + claimed, now));
}

/**
 * First who has had less of it, by weight; of those that have had the same, who has less left of its own limits, and so can
 * make up for less. No two wait for each other.
 */
function precedence(flow: Flow, place: Shared, queue: FairQueue, now: Milliseconds): Precedence | undefined {
  const { dimension, index } = place;
  const used = usedBy(flow, index, now);
  const share = fairShare(flow, dimension, queue, now);
  if (used < share) return undefined;
  const own = used / flow.team.weight;
  const left = leftOf(flow.model, now);
  const has = (model: ModelClass<Flow>): boolean => {
    const more = servedOf(model, place, now) - own;
    return more < -TINY || (more <= TINY && leftOf(model, now) < left);
  };
  let until = flow.recent?.below(share, index, now) ?? Infinity;
  for (const model of queue.models.values())
    until = Math.min(until, model.weightFallsAt(dimension.spec, now));
  return { until, has };
}

/** Which part of its own limits a model has left: the less, the less it can make up for. */
function leftOf({ caps }: ModelClass<Flow>, now: Milliseconds): number {
  return caps.reduce((least, cap) => Math.min(least, cap.spare(now) / cap.limit), 1);
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
  let sum = 0;
  for (const model of queue.models.values()) sum += model.weightIn(spec, now);
  const share = (limit * flow.team.weight) / Math.max(sum, flow.team.weight);
  return Math.max(TINY, share - TINY);
}

function usedBy({ recent }: Flow, index: number, now: Milliseconds): number {
  return recent?.of(index, now) ?? 0;
}

/** By weight. */
function servedOf(model: ModelClass<Flow>, { dimension, index }: Shared, now: Milliseconds): number {
  return (model.recent?.of(index, now) ?? 0) / model.weightIn(dimension.spec, now);
}
