interface Chunk {
  readonly choices: readonly { readonly delta?: { readonly content?: string | null } }[];
}

/** The data of every event of a stream, in order; comments and names left out. */
export function dataOf(stream: string): readonly string[] {
  return stream.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []));
}

/** The text of a stream. */
export function contentOf(stream: string): string {
  return dataOf(stream)
    .filter((data) => data.startsWith('{'))
    .map((data) => (JSON.parse(data) as Chunk).choices[0]?.delta?.content ?? '')
    .join('');
}

/** What the simulator says of the text that it sent. */
export function simHashOf(stream: string): string | undefined {
  return /^: x-sim-text-sha256 ([0-9a-f]{64})$/m.exec(stream)?.[1];
}
