import type { Milliseconds } from '@weir/kernel';

/** What is learned of a provider. At rest every knob has the value that was configured. Plain JSON. */
export interface Knobs {
  /** J, between the configured spread and 2 s. */
  readonly delaySpreadMs: Milliseconds;
  /** b, in units, between 1 and the limit. */
  readonly burst: number;
  /** g: the part of the limit that is really there, between a half and 1. */
  readonly quotaFactor: number;
  /** Whether a sixth of the limit per sixth of the window is kept, too: 0 for no, 1 and up by how strictly. */
  readonly middleGuard: number;
  readonly cells: CellState;
}

/** The hypothesis that the provider counts per sixtieth of the window. */
export type CellState =
  | { readonly kind: 'off' }
  | {
      readonly kind: 'locked';
      readonly shifts: number;
      /** Which of the sizes that a cell may have. */
      readonly size: number;
    }
  | { readonly kind: 'spaced' }
  | { readonly kind: 'given_up' };

/** What was learned, for people; empty at rest. */
export function describeKnobs(knobs: Knobs, rest: Knobs): string {
  const words: string[] = [];
  if (knobs.middleGuard > 0)
    words.push(`a sixth per sixth of the window${roundedDown(knobs.middleGuard > 1)}`);
  if (knobs.cells.kind === 'locked') words.push(`phase-locked cells${roundedDown(knobs.cells.size > 0)}`);
  if (knobs.cells.kind === 'spaced') words.push('spaced cells');
  if (knobs.delaySpreadMs !== rest.delaySpreadMs) words.push(`spread ${Math.round(knobs.delaySpreadMs)} ms`);
  if (knobs.burst !== rest.burst) words.push(`burst ${Math.round(knobs.burst)}`);
  if (knobs.quotaFactor < 1) words.push(`${Math.round(knobs.quotaFactor * 100)} % of the limit`);
  return words.join(', ');
}

function roundedDown(is: boolean): string {
  return is ? ', rounded down' : '';
}
