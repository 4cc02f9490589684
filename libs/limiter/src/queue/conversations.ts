/** A request inside a conversation. */
export interface Speaker {
  /** True once it gave up its place. */
  readonly left: boolean;
  /** Its predecessors have left: it may be granted from now on. */
  speak(): void;
}

/**
 * Requests of one conversation, strictly one after the other: only the head may be granted, until it leaves.
 * One that leaves out of turn costs O(1) and is skipped when it comes up.
 */
export class Conversations {
  private readonly byKey = new Map<string, Speaker[]>();

  /** @returns whether the newcomer is the head */
  join(key: string, speaker: Speaker): boolean {
    const line = this.byKey.get(key);
    if (line === undefined) {
      this.byKey.set(key, [speaker]);
      return true;
    }
    line.push(speaker);
    return false;
  }

  /** A speaker has left; if it was the head, the next one speaks. */
  leave(key: string, speaker: Speaker): void {
    const line = this.byKey.get(key);
    if (line?.[0] !== speaker) return;
    const gone = line.findIndex((each) => !each.left);
    line.splice(0, gone < 0 ? line.length : gone);
    const next = line.at(0);
    if (next === undefined) this.byKey.delete(key);
    else next.speak();
  }

  get size(): number {
    return this.byKey.size;
  }
}
