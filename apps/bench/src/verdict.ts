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
