import { replacesAnswer, type Fault, type Json } from '../provider/faults.js';
import { jsonAnswer, plainAnswer, textAnswer, type Answer, type Frame } from './answer.js';

const PAGE =
  '<!doctype html><html lang="en"><head><title>Service unavailable</title></head><body><h1>Service unavailable</h1></body></html>\n';

/** What a script says in the model's place; undefined where the model answers. */
export function replacement(fault: Fault): Answer | undefined {
  if (!replacesAnswer(fault)) return undefined;
  const { status = 200, headers = {}, body, html } = fault;
  if (html !== undefined && html !== false) {
    const page = typeof html === 'string' ? html : PAGE;
    return textAnswer(status, page, { 'content-type': 'text/html; charset=utf-8', ...headers });
  }
  if (typeof body === 'string') {
    return textAnswer(status, body, { 'content-type': mediaTypeOf(body), ...headers });
  }
  return jsonAnswer(status, body ?? defaultError(status), headers);
}

/** The model's answer with the script's changes of headers and frames. */
export function distorted(answer: Answer, fault: Fault): Answer {
  const status = fault.status ?? answer.status;
  const changed = { ...answer, status, headers: { ...answer.headers, ...fault.headers } };
  const { errorAtFrame, stallAtFrame } = fault;
  if (answer.streams) {
    return { ...changed, frames: distortedFrames(answer.frames, fault) };
  }
  if (errorAtFrame) {
    const text =
      typeof errorAtFrame.body === 'string' ? errorAtFrame.body : JSON.stringify(errorAtFrame.body);
    const frame: Frame = { bytes: text, tokens: 0, breaksOff: true };
    return plainAnswer(status, frame, changed.headers);
  }
  const stallMs = stallAtFrame?.ms ?? 0;
  return { ...changed, frames: Array.from(answer.frames, (frame) => ({ ...frame, stallMs })) };
}

function* distortedFrames(frames: Iterable<Frame>, fault: Fault): Generator<Frame> {
  const { errorAtFrame, stallAtFrame } = fault;
  let number = 0;
  for (const frame of frames) {
    number += 1;
    const stall = stallAtFrame?.frame === number ? { stallMs: stallAtFrame.ms } : {};
    if (errorAtFrame?.frame === number) {
      yield { bytes: errorEvent(errorAtFrame.body), tokens: 0, breaksOff: true, ...stall };
      return;
    }
    yield { ...frame, ...stall };
  }
}

/** Lines of text that are fields already go out as they are; other text, and JSON, become the data of an event. */
function errorEvent(body: Json): string {
  if (typeof body !== 'string') return `data: ${JSON.stringify(body)}\n\n`;
  if (/^(data|event|error|id|retry)?:/m.test(body)) return `${body.trimEnd()}\n\n`;
  const lines = body.split('\n').map((line) => `data: ${line}\n`);
  return `${lines.join('')}\n`;
}

function mediaTypeOf(body: string): string {
  return /^\s*[[{]/.test(body) ? 'application/json' : 'text/plain; charset=utf-8';
}

function defaultError(status: number): Json {
  const kind = status === 429 ? 'rate_limit_error' : status < 500 ? 'invalid_request_error' : 'server_error';
  return { error: { message: `Scripted fault ${status}.`, type: kind, param: null, code: null } };
}
