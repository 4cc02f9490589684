/** Where the head of a message ends in these bytes, the blank line included; -1 where it does not. */
export function headEnd(bytes: Buffer): number {
  const at = bytes.indexOf('\r\n\r\n');
  return at === -1 ? -1 : at + 4;
}

/** What a head says about the length of the body; undefined where it is chunked. */
export function contentLength(head: string): number | undefined {
  const found = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  return found === undefined ? undefined : Number(found);
}
