/**
 * The thread in which tokens are counted. Node runs this file by itself, compiled or as it stands here, so it imports
 * nothing of ours and says with its name that it is a module.
 */
import { parentPort, type MessagePort } from 'node:worker_threads';
import type { Encoding } from '../vocabulary.js';

/** What the thread is asked. It answers each with one number, in order. */
export interface CountJob {
  readonly encoding: Encoding;
  readonly texts: readonly string[];
}

/** A caller may write `<|endoftext|>`: to a provider it is text, so it is counted as text. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

/** A vocabulary takes about 50 MB and a tenth of a second, so each is loaded when it is first needed. */
const LOADERS = {
  o200k_base: () => import('gpt-tokenizer/encoding/o200k_base'),
  cl100k_base: () => import('gpt-tokenizer/encoding/cl100k_base'),
};

async function answer(port: MessagePort, { encoding, texts }: CountJob): Promise<void> {
  const { countTokens, clearMergeCache } = await LOADERS[encoding]();
  let tokens = 0;
  for (const text of texts) tokens += countTokens(text, AS_TEXT);
  // The cache is worth it within one prompt, and would keep the words of every prompt.
  clearMergeCache();
  port.postMessage(tokens);
}

const port = parentPort;
port?.on('message', (job: CountJob) => void answer(port, job));
