/** A binary heap. It may tell its entries where they lie, so that one can be moved when its key changes. */
export class Heap<Entry> {
  private entries: Entry[] = [];

  constructor(
    private readonly before: (a: Entry, b: Entry) => boolean,
    private readonly placed?: (entry: Entry, index: number) => void,
  ) {}

  get size(): number {
    return this.entries.length;
  }

  peek(): Entry | undefined {
    return this.entries[0];
  }

  push(entry: Entry): void {
    this.entries.push(entry);
    this.rise(this.entries.length - 1, entry);
  }

  pop(): Entry | undefined {
    const first = this.entries[0];
    if (first !== undefined) this.removeAt(0);
    return first;
  }

  /** Takes out the entry that was told this index. */
  removeAt(index: number): void {
    const last = this.entries.pop();
    if (last === undefined || index >= this.entries.length) return;
    this.settle(index, last);
  }

  /** The key of the entry at this index has changed. */
  moved(index: number): void {
    const entry = this.entries[index];
    if (entry !== undefined) this.settle(index, entry);
  }

  /** Forgets what is dead: for lazy deletion, whenever the dead outnumber the living. */
  prune(alive: (entry: Entry) => boolean): void {
    const living = this.entries.filter(alive);
    this.entries = [];
    for (const entry of living) this.push(entry);
  }

  [Symbol.iterator](): Iterator<Entry> {
    return this.entries[Symbol.iterator]();
  }

  private settle(index: number, entry: Entry): void {
    this.sink(this.rise(index, entry), entry);
  }

  private rise(from: number, entry: Entry): number {
    let index = from;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = this.entries[above];
      if (parent === undefined || !this.before(entry, parent)) break;
      this.put(index, parent);
      index = above;
    }
    this.put(index, entry);
    return index;
  }

  private sink(from: number, entry: Entry): void {
    let index = from;
    for (;;) {
      const child = this.firstChild(index);
      const below = this.entries[child];
      if (below === undefined || !this.before(below, entry)) break;
      this.put(index, below);
      index = child;
    }
    this.put(index, entry);
  }

  private firstChild(index: number): number {
    const left = 2 * index + 1;
    const one = this.entries[left];
    const other = this.entries[left + 1];
    return one !== undefined && other !== undefined && this.before(other, one) ? left + 1 : left;
  }

  private put(index: number, entry: Entry): void {
    this.entries[index] = entry;
    this.placed?.(entry, index);
  }
}
