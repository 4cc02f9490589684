import { table } from './table.js';

/** One claim, and whether it held. */
export interface Verdict {
  readonly claim: string;
  readonly holds: boolean;
  /** What was measured, in words. */
  readonly measured: string;
}

/** One line for people. */
export function verdictLine({ claim, holds, measured }: Verdict): string {
  return `${holds ? 'holds' : 'FAILS'}  ${claim}: ${measured}`;
}

/** Verdicts as Markdown. */
export function verdictTable(verdicts: readonly Verdict[]): string {
  return table(
    ['claim', 'measured', 'holds'],
    verdicts.map(({ claim, measured, holds }) => [claim, measured, holds ? 'yes' : '**no**']),
  );
}
