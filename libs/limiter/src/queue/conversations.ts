/** A request inside a conversation. */
export interface Speaker {
  /** True once it gave up its place. */
  readonly left: boolean;
  /** Its predecessors have left: it may be granted from now on. */
  speak(): void;
}

/** Those of one conversation in order. */
interface Line {
  speakers: Speaker[];
  /** How many of them have left while they were not the head. */
  gone: number;
}

/** As many of those who left may be kept, whatever the length of the line. */
const KEPT = 32;

/**
 * Requests of one conversation, strictly one after the other: only the head may be granted, until it leaves.
 * One that leaves out of turn costs O(1): it is skipped when it comes up, or thrown out with the others when they are many.
 */
export class Conversations {
  private readonly byKey = new Map<string, Line>();

  /** @returns whether the newcomer is the head */
  join(key: string, speaker: Speaker): boolean {
    const line = this.byKey.get(key);
    if (line === undefined) {
      this.byKey.set(key, { speakers: [speaker], gone: 0 });
      return true;
    }
    line.speakers.push(speaker);
    return false;
  }

  /** A speaker has left; if it was the head, the next one speaks. Once per speaker. */
  leave(key: string, speaker: Speaker): void {
    const line = this.byKey.get(key);
    if (line === undefined) return;
    if (line.speakers[0] === speaker) {
      this.moveOn(key, line);
      return;
    }
    line.gone += 1;
    if (line.gone <= line.speakers.length / 2 + KEPT) return;
    line.speakers = line.speakers.filter(({ left }) => !left);
    line.gone = 0;
  }

  get size(): number {
    return this.byKey.size;
  }

  /** How many speakers of a conversation are remembered, those who left among them. */
  kept(key: string): number {
    return this.byKey.get(key)?.speakers.length ?? 0;
  }

  private moveOn(key: string, line: Line): void {
    const next = line.speakers.findIndex(({ left }) => !left);
    const done = next < 0 ? line.speakers.length : next;
    line.speakers.splice(0, done);
    line.gone -= done - 1;
    if (next < 0) this.byKey.delete(key);
    else line.speakers[0]?.speak();
  }
}
