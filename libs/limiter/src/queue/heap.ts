/** A binary heap. The order of its entries must not change while they lie in it. */
export class Heap<Entry> {
  private entries: Entry[] = [];

  constructor(private readonly before: (a: Entry, b: Entry) => boolean) {}

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
    const last = this.entries.pop();
    if (last !== undefined && this.entries.length > 0) this.sink(last);
    return first;
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

  private rise(from: number, entry: Entry): void {
    let index = from;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = this.entries[above];
      if (parent === undefined || !this.before(entry, parent)) break;
      this.entries[index] = parent;
      index = above;
    }
    this.entries[index] = entry;
  }

  private sink(entry: Entry): void {
    let index = 0;
    for (;;) {
      const child = this.firstChild(index);
      const below = this.entries[child];
      if (below === undefined || !this.before(below, entry)) break;
      this.entries[index] = below;
      index = child;
    }
    this.entries[index] = entry;
  }

  private firstChild(index: number): number {
    const left = 2 * index + 1;
    const one = this.entries[left];
    const other = this.entries[left + 1];
    return one !== undefined && other !== undefined && this.before(other, one) ? left + 1 : left;
  }
}
