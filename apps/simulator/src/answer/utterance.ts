import { createHash } from 'node:crypto';
import { seededRandom, type Tokens } from '@weir/kernel';
import type { Behaviour } from '../provider/behaviour.js';
import { textOf, type ChatRequest } from './chat-request.js';
import { exampleOf } from './example.js';
import { BYTES_PER_WORD, Transcript } from './transcript.js';

/** What the model says to one request, token by token: a text, or the arguments of a tool call. */
export interface Utterance {
  readonly tool?: { readonly id: string; readonly name: string };
  readonly tokens: Tokens;
  readonly finish: 'stop' | 'length' | 'tool_calls';
  pieces(): Iterable<string>;
}

/** Tokens of a text whose length nobody set: at least the first, less than the sum. */
const OWN_LENGTH = { least: 16, spread: 32 };

/** @param turn tells the call from every other one; it matters only where the behaviour diverges */
export function utter(request: ChatRequest, behaviour: Behaviour, turn: number): Utterance {
  const { question, prefix } = splitPrefix(request.messages);
  const salt = behaviour.diverge ? turn : 0;
  const seed = seedOf([behaviour.seed, salt, request.model, question]);
  const maxTokens = request.max_completion_tokens ?? request.max_tokens ?? Infinity;
  const tool = chosenTool(request, seed);
  if (tool) return callTool(tool, seed, maxTokens);
  const tokens = behaviour.frames ?? OWN_LENGTH.least + (seed % OWN_LENGTH.spread);
  const text = new Transcript(seed, tokens, Math.ceil(behaviour.frameBytes / BYTES_PER_WORD));
  const reading = { prefix, maxTokens };
  const cut = text.length({ ...reading, maxTokens: Infinity }) > maxTokens;
  return {
    tokens: text.length(reading),
    finish: cut ? 'length' : 'stop',
    pieces: () => text.read(reading),
  };
}

/** A number that is the same for the same values only. */
export function seedOf(values: readonly unknown[]): number {
  return createHash('sha256').update(JSON.stringify(values)).digest().readUInt32BE();
}

/** An assistant's message at the end is the beginning of the answer, not part of the question. */
function splitPrefix(messages: ChatRequest['messages']) {
  const last = messages.at(-1);
  if (last?.role !== 'assistant' || textOf(last) === '') return { question: messages, prefix: '' };
  return { question: messages.slice(0, -1), prefix: textOf(last) };
}

type Tool = NonNullable<ChatRequest['tools']>[number]['function'];

/** Left to itself the model calls a tool for every second question, and never right after a tool's result. */
function chosenTool({ tools, tool_choice: choice, messages }: ChatRequest, seed: number): Tool | undefined {
  const functions = (tools ?? []).map((declared) => declared.function);
  if (typeof choice === 'object' && choice) {
    return functions.find(({ name }) => name === choice.function.name);
  }
  const declines = messages.at(-1)?.role === 'tool' || seed % 2 === 0;
  if (choice === 'none' || (choice !== 'required' && declines)) return undefined;
  return functions[seed % functions.length];
}

function callTool(tool: Tool, seed: number, maxTokens: Tokens): Utterance {
  const whole = JSON.stringify(exampleOf(tool.parameters ?? {}, seededRandom(seed)));
  const all = whole.match(/.{1,4}/gsu) ?? [];
  const pieces = all.slice(0, maxTokens);
  return {
    tool: { id: `call_sim_${seed.toString(16).padStart(8, '0')}`, name: tool.name },
    tokens: pieces.length,
    finish: pieces.length === all.length ? 'tool_calls' : 'length',
    pieces: () => pieces,
  };
}
