import { elementsOf, isRecord } from './json-value.js';
import { DONE_EVENT, encodeSseEvent } from './sse-encoder.js';

type Json = Readonly<Record<string, unknown>>;

/**
 * Turns a plain completion into the frames of the stream that the caller asked for; some providers ignore `stream: true`.
 * The one place where an answer is written anew: passed on as JSON, an SDK would read an empty stream.
 */
export function completionToStream(completion: Json): readonly [Uint8Array, Uint8Array] {
  const chunk = {
    ...completion,
    object: 'chat.completion.chunk',
    choices: elementsOf(completion['choices']).filter(isRecord).map(toDelta),
  };
  return [encodeSseEvent(JSON.stringify(chunk)), DONE_EVENT];
}

function toDelta(choice: Json): Json {
  const { message, ...rest } = choice;
  if (!isRecord(message)) return { ...rest, delta: {} };
  const calls = message['tool_calls'];
  const delta = Array.isArray(calls)
    ? { ...message, tool_calls: calls.filter(isRecord).map((call, index) => ({ index, ...call })) }
    : message;
  return { ...rest, delta };
}
