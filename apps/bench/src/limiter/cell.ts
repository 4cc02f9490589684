import { once } from 'node:events';
import { z } from 'zod';
import { CONTENDERS, type ContenderName } from './contenders.js';
import { MEASURES, type MeasureName } from './measures.js';

/** One measure of one contender with so many waiters. */
export const LimiterCell = z.object({
  contender: z.custom<ContenderName>((value) => typeof value === 'string' && value in CONTENDERS),
  measure: z.custom<MeasureName>((value) => typeof value === 'string' && value in MEASURES),
  waiters: z.int(),
});
export type LimiterCell = z.infer<typeof LimiterCell>;

/** Measures one cell, tells, and ends, however many still wait. */
export async function cellProcess(): Promise<void> {
  const [message] = (await once(process, 'message')) as unknown[];
  const { contender, measure, waiters } = LimiterCell.parse(message);
  const measured = await MEASURES[measure](contender, waiters);
  process.send?.(measured, undefined, undefined, () => process.exit(0));
}
