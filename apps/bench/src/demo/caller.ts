import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Outcome } from './outcome.js';
import { connected, streamCall, type Endpoint } from './stream-call.js';
import { Question } from './workload.js';

/** What a client process is told: whom to ask what. The next message starts it. */
export const CallerJob = z.object({
  endpoint: z.object({ url: z.string(), key: z.string() }),
  questions: z.array(Question),
});
export type CallerJob = z.infer<typeof CallerJob>;

/** Between two requests of one process: nothing may depend on which of two simultaneous ones is read first. */
const APART_MS = 10;

/** A client process: connects, says that it is ready, sends all of its requests on the word, reports, ends. */
export async function callerProcess(): Promise<void> {
  const [message] = (await once(process, 'message')) as unknown[];
  const { endpoint, questions } = CallerJob.parse(message);
  const agents = await Promise.all(questions.map(() => connected(endpoint)));
  const go = once(process, 'message');
  process.send?.('ready');
  await go;
  const outcomes: Promise<Outcome>[] = [];
  for (const [at, question] of questions.entries()) {
    if (at > 0) await sleep(APART_MS);
    outcomes.push(ask(endpoint, question, agents[at]));
  }
  process.send?.(await Promise.all(outcomes));
  for (const agent of agents) agent.destroy();
  process.disconnect();
}

async function ask(
  endpoint: Endpoint,
  question: Question,
  agent: Parameters<typeof streamCall>[2],
): Promise<Outcome> {
  const result = await streamCall(endpoint, question, agent);
  const waited = result.headers['x-weir-wait-ms'];
  return {
    question,
    askedAt: result.sentAt,
    result,
    ...(waited !== undefined && { waitedMs: Number(waited) }),
  };
}
