import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConditionBucket } from '../seeds/condition-bucket.js';
import type { Outcome } from './outcome.js';
import { streamCall, type CallResult, type Endpoint } from './stream-call.js';
import { ACCOUNT, MODELS, WINDOW_SECONDS, WORKERS, type Question } from './workload.js';

interface Answer {
  readonly question: Question;
  readonly result?: CallResult;
}

type Ask = (question: Question) => Promise<Answer>;

/** How the article began: a semaphore bounds how many calls are open, and nothing paces or repeats them. */
export function semaphoreClient(endpoint: Endpoint, questions: readonly Question[]): Promise<Outcome[]> {
  return work(questions, 'any', async (question) => ({
    question,
    result: await streamCall(endpoint, question),
  }));
}

/** The article's client: an account's and a model's bucket, both given back after a 429, four tries. */
export function twoBucketClient(endpoint: Endpoint, questions: readonly Question[]): Promise<Outcome[]> {
  const minute = 60 / WINDOW_SECONDS;
  // The article's numbers: 1 a second for the account, 0.8 and 5 for the models.
  const account = new ConditionBucket(ACCOUNT.burst, 1 * minute);
  const models = new Map([
    ['gemini-2.5-pro', new ConditionBucket(MODELS['gemini-2.5-pro'].burst, 0.8 * minute)],
    ['gemini-2.5-flash', new ConditionBucket(MODELS['gemini-2.5-flash'].burst, 5 * minute)],
  ]);
  const ask: Ask = (question) => {
    const model = models.get(question.model) ?? account;
    return twoBucketCall(endpoint, question, [account, model]);
  };
  return work(questions, 'sticky', ask);
}

const TRIES = 4;
const BUCKET_TIMEOUT_MS = 30_000;
const NO_HINT_MS = 1000;

/** One call of the article's client: after a 429 it gives back what it took, waits, and takes again. */
async function twoBucketCall(
  endpoint: Endpoint,
  question: Question,
  buckets: readonly ConditionBucket[],
): Promise<Answer> {
  if (!(await take(buckets))) return { question };
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const result = await streamCall(endpoint, question);
    if (result.status !== 429) return { question, result };
    for (const bucket of buckets) bucket.release();
    await sleep(Number(result.headers['retry-after-ms'] ?? NO_HINT_MS));
    if (!(await take(buckets))) return { question };
  }
  for (const bucket of buckets) bucket.release();
  return { question };
}

/** One after the other; who fails at the second gives the first back. */
async function take([account, model]: readonly ConditionBucket[]): Promise<boolean> {
  if (!(await account?.acquire(1, BUCKET_TIMEOUT_MS))) return false;
  if (await model?.acquire(1, BUCKET_TIMEOUT_MS)) return true;
  account?.release();
  return false;
}

/** Sixteen workers; `sticky`: a conversation's requests go to one of them, by hash, and each has its own queue. */
async function work(questions: readonly Question[], how: 'any' | 'sticky', ask: Ask): Promise<Outcome[]> {
  const askedAt = performance.now();
  const shared = [...questions];
  const queues = Array.from({ length: WORKERS }, (_, worker) =>
    how === 'any' ? shared : questions.filter((question) => shardOf(question) === worker),
  );
  const answers = await Promise.all(
    queues.map(async (queue) => {
      const mine: Answer[] = [];
      for (let next = queue.shift(); next; next = queue.shift()) mine.push(await ask(next));
      return mine;
    }),
  );
  return answers.flat().map(({ question, result }) => ({
    question,
    askedAt,
    ...(result && { result, waitedMs: result.sentAt - askedAt }),
  }));
}

function shardOf({ conversation, index }: Question): number {
  const digest = createHash('sha256')
    .update(conversation ?? `adhoc-${index}`)
    .digest();
  return digest.readUInt32BE() % WORKERS;
}
