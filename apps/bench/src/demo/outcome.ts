import { z } from 'zod';
import { CallResult, isTrue } from './stream-call.js';
import { Question } from './workload.js';

/** How one question fared, however often it was tried. */
export const Outcome = z.object({
  question: Question,
  /** When its caller wanted the answer, on the clock of the process that asked. */
  askedAt: z.number(),
  /** The last call; absent where none was made. */
  result: CallResult.exactOptional(),
  /** From the wish to the departure of that call to the provider. */
  waitedMs: z.number().exactOptional(),
});
export type Outcome = z.infer<typeof Outcome>;

/** The whole text came, and it is the simulator's. */
export function succeeded({ result }: Outcome): boolean {
  return result !== undefined && isTrue(result);
}

/** From the wish to the first piece of text; undefined where none came. */
export function timeToFirstText({ askedAt, result }: Outcome): number | undefined {
  return result?.firstTextAt === undefined ? undefined : result.firstTextAt - askedAt;
}

/**
 * Conversations whose answers came out of turn: some answer began before the one before it had ended.
 * Requests of a conversation are asked by one process, in the order of their index, so one clock judges.
 */
export function disorders(outcomes: readonly Outcome[]): readonly string[] {
  const conversations = Map.groupBy(outcomes, ({ question }) => question.conversation);
  conversations.delete(undefined);
  return [...conversations].flatMap(([name = '', members]) => {
    const inOrder = members.toSorted((a, b) => a.question.index - b.question.index);
    return inOrder.slice(1).some((next, at) => overlap(inOrder[at], next)) ? [name] : [];
  });
}

function overlap(before: Outcome | undefined, after: Outcome): boolean {
  const [endedAt, firstByteAt] = [before?.result?.endedAt, after.result?.firstByteAt];
  return endedAt === undefined || firstByteAt === undefined || firstByteAt < endedAt;
}
