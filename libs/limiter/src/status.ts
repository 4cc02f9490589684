import type { Milliseconds } from '@weir/kernel';
import type { DimensionStatus, FlowStatus } from './limiter.js';
import { expect, type HoldTime } from './queue/eta.js';
import type { FairQueue } from './queue/fair-queue.js';
import type { Flow } from './queue/flow.js';
import type { Dimension } from './quota/dimension.js';

/** One dimension, for people. */
export function dimensionStatus(dimension: Dimension, now: Milliseconds): DimensionStatus {
  const { id, scope, account, model, team, unit, windowMs } = dimension.spec;
  return {
    id,
    scope,
    ...(account === undefined ? {} : { account }),
    ...(model === undefined ? {} : { model }),
    ...(team === undefined ? {} : { team }),
    unit,
    limit: dimension.limit,
    room: dimension.room(now),
    used: dimension.used(now),
    ...(unit === 'slots' ? {} : { windowMs }),
    shape: dimension.describe(),
    pausedForMs: Math.max(0, dimension.pausedUntil - now),
  };
}

/** The flows of an account that have something waiting, for people. */
export function flowStatuses(queue: FairQueue, now: Milliseconds, hold: HoldTime): FlowStatus[] {
  return [...queue.models.values()].flatMap((model) =>
    [...model.busy].map((flow) => flowStatus(queue, flow, now, hold)),
  );
}

function flowStatus(queue: FairQueue, flow: Flow, now: Milliseconds, hold: HoldTime): FlowStatus {
  const { account, model } = flow.model.target;
  const head = flow.next();
  const cost = { inputTokens: 0, outputTokens: 0 };
  const last = expect(queue, flow, { cost }, { now, hold });
  const boundBy = head?.boundBy ?? flow.model.boundBy ?? queue.boundBy;
  return {
    team: flow.team.id,
    model: `${account}/${model}`,
    waiting: flow.waiting,
    oldestMs: now - (flow.oldest()?.askedAt ?? now),
    etaMs: last.at - now,
    ...(boundBy === undefined ? {} : { boundBy }),
  };
}
