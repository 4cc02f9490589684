/** The last event of an OpenAI stream that is whole. */
export const DONE_EVENT: Uint8Array = Buffer.from('data: [DONE]\n\n');

/** An event that every reader skips: for what a machine on the way, or a person who looks, may want to see. */
export function encodeSseComment(lines: readonly string[]): Uint8Array {
  return Buffer.from(`${lines.map((line) => `: ${line}\n`).join('')}\n`);
}

/**
 * One server-sent event as bytes.
 * @param data  its text; line breaks of any kind become several `data:` lines
 * @param event its name; left out for a plain message
 */
export function encodeSseEvent(data: string, event?: string): Uint8Array {
  const name = event === undefined ? '' : `event: ${event}\n`;
  const lines = data
    .split(/\r\n|\r|\n/)
    .map((line) => `data: ${line}\n`)
    .join('');
  return Buffer.from(`${name}${lines}\n`);
}
