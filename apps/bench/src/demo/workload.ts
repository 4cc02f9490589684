import { z } from 'zod';

/** One request of the demo. */
export const Question = z.object({
  index: z.number(),
  model: z.string(),
  prompt: z.string(),
  conversation: z.string().exactOptional(),
});
export type Question = z.infer<typeof Question>;

/** The article's bench: 100 requests, 30 of them in 5 conversations, 16 at work. */
export const REQUESTS = 100;
export const IN_CONVERSATIONS = 30;
export const CONVERSATIONS = 5;
export const WORKERS = 16;

/** What "a minute" lasts here, at the provider and at whoever paces; rates per second are 60 / 6 times the article's. */
export const WINDOW_SECONDS = 6;

/** Limits per window, and how much may leave at once, as the article has them. */
export const ACCOUNT = { limit: 60, burst: 8 };
export const MODELS = {
  'gemini-2.5-pro': { limit: 48, burst: 6 },
  'gemini-2.5-flash': { limit: 300, burst: 20 },
};

/** Conversations speak to the large model, as in the article; the others are shared out, so that every limit is met. */
export function questions(): readonly Question[] {
  return Array.from({ length: REQUESTS }, (_, index) => {
    const prompt = `#${index}: explain in one sentence what a token bucket is.`;
    if (index < IN_CONVERSATIONS) {
      return { index, prompt, model: 'gemini-2.5-pro', conversation: `session-${index % CONVERSATIONS}` };
    }
    return { index, prompt, model: index % 2 === 0 ? 'gemini-2.5-pro' : 'gemini-2.5-flash' };
  });
}

/** Whose requests a client process sends: a conversation belongs to one of them, the others fill up the rest. */
export function shares(all: readonly Question[], clients: number): readonly (readonly Question[])[] {
  const piles: Question[][] = Array.from({ length: clients }, () => []);
  for (const question of all) {
    if (question.conversation !== undefined) piles[question.index % CONVERSATIONS]?.push(question);
  }
  for (const question of all) {
    if (question.conversation === undefined) smallest(piles).push(question);
  }
  return piles;
}

function smallest(piles: readonly Question[][]): Question[] {
  return piles.reduce((least, pile) => (pile.length < least.length ? pile : least));
}
