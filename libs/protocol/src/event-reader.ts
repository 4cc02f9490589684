import { completionFacts } from './completion-facts.js';
import type { CompletionFacts } from './facts.js';
import { isRecord, parseJson } from './json-value.js';
import type { SseEvent } from './sse-decoder.js';
import { TextDeltaTemplate } from './text-delta-template.js';

/** What one event of an answer means. */
export type EventReading =
  /** Comments, pings, unknown names, data that is no JSON: forwarded, never interpreted. */
  | { readonly kind: 'nothing' }
  /** `[DONE]`. */
  | { readonly kind: 'done' }
  /** A provider's error; its chunk may carry usage as well. */
  | { readonly kind: 'error'; readonly body: Buffer; readonly facts: CompletionFacts }
  /** Data that is not JSON: only the end of a stream makes a difference, where it is half an event. */
  | { readonly kind: 'unreadable' }
  /** More text of a choice that is known, and nothing else: recognised without decoding. */
  | { readonly kind: 'text'; readonly visibleBytes: number }
  | { readonly kind: 'chunk'; readonly facts: CompletionFacts };

const NOTHING: EventReading = { kind: 'nothing' };
const DONE = '[DONE]';
const UNREADABLE: EventReading = { kind: 'unreadable' };
const NO_FACTS: CompletionFacts = {
  id: undefined,
  model: undefined,
  choices: [],
  usage: undefined,
  usageOnly: false,
  ended: false,
};

/**
 * Gives meaning to the events of one stream. It decodes JSON only where something may have changed:
 * chunks that differ from a decoded one in nothing but their text are told by comparing bytes.
 */
export class EventReader {
  private readonly template = new TextDeltaTemplate();

  read(event: SseEvent): EventReading {
    const { data } = event;
    if (data === undefined) return NOTHING;
    if (event.event === undefined) {
      const visibleBytes = this.template.match(data);
      if (visibleBytes !== undefined) return { kind: 'text', visibleBytes };
    }
    return this.decode(data, event.event);
  }

  private decode(data: Buffer, name: string | undefined): EventReading {
    const text = data.toString('utf8');
    // No JSON begins so; a parser would say it with an error, which is dear.
    if (text.trimStart().startsWith(DONE)) return { kind: 'done' };
    const json = parseJson(text);
    if (!isRecord(json)) return plainReading(data, name, json);
    if (name === 'ping' || json['type'] === 'ping') return NOTHING;
    const facts = completionFacts(json);
    if (name === 'error' || isErrorBody(json, facts)) return { kind: 'error', body: data, facts };
    this.template.learn(data, facts);
    return { kind: 'chunk', facts };
  }
}

/** Whether a decoded body is an error, by field and not by prose. Used for whole answers too. */
export function isErrorBody(json: Readonly<Record<string, unknown>>, facts: CompletionFacts): boolean {
  if (carriesSomething(json['error'])) return true;
  if (json['object'] === 'error' || json['type'] === 'error') return true;
  return facts.choices.some((choice) => choice.finishReason === 'error');
}

function carriesSomething(error: unknown): boolean {
  return typeof error === 'string' ? error !== '' : isRecord(error);
}

/** The text of an error event, or a list that wraps an error (Gemini). */
function plainReading(data: Buffer, name: string | undefined, json: unknown): EventReading {
  if (name === 'error') return { kind: 'error', body: data, facts: NO_FACTS };
  const first: unknown = Array.isArray(json) ? json[0] : undefined;
  if (isRecord(first) && isErrorBody(first, NO_FACTS)) return { kind: 'error', body: data, facts: NO_FACTS };
  return json === undefined ? UNREADABLE : NOTHING;
}
