/** The shapes in which the simulator enforces its quota, by the names of the tables. A quantum is real seconds. */
export const SHAPES = {
  sliding: 'sliding',
  fixed: 'fixed',
  'bucket(600)': { bucket: 600 },
  'bucket(100)': { bucket: 100 },
  'quantum(1)': { quantum: 1 },
  'quantum(10)': { quantum: 10 },
} as const;

/** One of the six. */
export type ShapeName = keyof typeof SHAPES;

/** The names, in the order of the tables. */
export const SHAPE_NAMES = Object.keys(SHAPES) as readonly ShapeName[];

/** Narrows a word of the command line. */
export function isShape(name: string): name is ShapeName {
  return Object.hasOwn(SHAPES, name);
}

/** What the provider allows: so many requests in every window. */
export const LIMIT = 600;
/** How long "a minute" lasts, at the provider and in the gateway. */
export const WINDOW_SECONDS = 20;
/** Requests that are asked for each one that the quota has room for. */
export const LOAD = 2;
/** How long a caller waits: a window. */
export const MAX_WAIT_MS = 1000 * WINDOW_SECONDS;
/** Spread of the one-way delay on loopback, of a machine that has more to do. Half a per cent of the window, and so of the quota. */
export const DELAY_SPREAD_MS = 100;
/** Requests that the quota has room for in a second. */
export const QUOTA_RATE = LIMIT / WINDOW_SECONDS;

/** One gateway in front of one simulator. */
export interface LivePlan {
  readonly shape: ShapeName;
  readonly minutes: number;
  readonly seed: number;
}
