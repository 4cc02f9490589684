import { PROVIDERS } from './provider-quotas.js';
import type { LimiterName, RunPlan } from './run.js';

/** Everything of a run but its dice and its length. */
export type Cell = Pick<RunPlan, 'limiter' | 'provider' | 'bound' | 'rhythm' | 'load' | 'countsRejected'>;

/** What all limiters and providers of one table share. */
export type Scenario = Pick<Cell, 'bound' | 'rhythm' | 'load' | 'countsRejected'>;

/** How long and how often everything is run. */
export interface Scale {
  readonly warmUpMs: number;
  readonly measuredMs: number;
  /** Seeds of what is only shown, and of what is judged. */
  readonly shown: readonly number[];
  readonly judged: readonly number[];
  readonly loads: readonly number[];
}

/** Consecutive seeds. */
function seeds(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => first + at);
}

const MINUTE_MS = 60_000;

/** The comparison as it is published. The learner was tuned on other seeds than these. */
export const FULL: Scale = {
  warmUpMs: 5 * MINUTE_MS,
  measuredMs: 35 * MINUTE_MS,
  shown: seeds(101, 3),
  judged: seeds(101, 40),
  loads: [0.7, 0.9, 2],
};

/** A glance, for tests: whatever is broken shows, nothing is proven. */
export const QUICK: Scale = {
  warmUpMs: 2 * MINUTE_MS,
  measuredMs: 6 * MINUTE_MS,
  shown: seeds(101, 1),
  judged: seeds(101, 1),
  loads: [2],
};

/** The limiters of the tables, in their order. */
export const SHOWN: readonly LimiterName[] = [
  'fixed window',
  'sliding log',
  'token bucket',
  "seeds' pair",
  'Weir, unknown',
  'Weir, declared',
];

/** Demand beyond the quota all the time: where the promises are made. */
export const OVERLOAD = 2;
/** The bursty load: the whole quota in the mean, three times the quota while it lasts. */
export const BURSTY_LOAD = 1;

/** Every table. */
export function scenarios(loads: readonly number[]): readonly Scenario[] {
  return (['requests', 'tokens'] as const).flatMap((bound) =>
    (['steady', 'bursty'] as const).flatMap((rhythm) =>
      loads.flatMap((load) =>
        [false, true].map((countsRejected) => ({ bound, rhythm, load, countsRejected })),
      ),
    ),
  );
}

/** Every cell of every table, and those that only a verdict needs. */
export function cells(loads: readonly number[]): readonly Cell[] {
  const tables = scenarios(loads).flatMap((scenario) =>
    SHOWN.flatMap((limiter) => PROVIDERS.map(([provider]) => ({ ...scenario, limiter, provider }))),
  );
  return [...tables, UNHURRIED];
}

/** A declared bucket under bursts, every caller patient: what knowing the shape is worth. */
export const UNHURRIED: Cell = {
  limiter: 'Weir, declared, no early refusal',
  provider: 'bucket(60)',
  bound: 'requests',
  rhythm: 'bursty',
  load: BURSTY_LOAD,
  countsRejected: false,
};

/** Whether a verdict is spoken about the cell. */
export function isJudged(cell: Cell): boolean {
  const { limiter, provider, rhythm, load, bound } = cell;
  if (cell === UNHURRIED) return true;
  if (rhythm !== 'steady' || load !== OVERLOAD) return false;
  if (limiter === 'Weir, unknown') return true;
  return provider === 'sliding' && bound === 'requests' && FIFO.includes(limiter);
}

/** First come, first served, without a refund. */
export const FIFO: readonly LimiterName[] = ['sliding log', 'token bucket'];

/** A cell's name, unique. */
export function keyOf({ limiter, provider, bound, rhythm, load, countsRejected }: Cell): string {
  return [bound, rhythm, load, countsRejected, limiter, provider].join(' · ');
}
