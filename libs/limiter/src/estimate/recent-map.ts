/** A map that forgets what was not used for longest, because callers choose its keys. */
export class RecentMap<Value> {
  private readonly entries = new Map<string, Value>();

  constructor(
    private readonly capacity: number,
    private readonly make: () => Value,
  ) {}

  get size(): number {
    return this.entries.size;
  }

  /** The value, if it is there. Looking does not count as use. */
  peek(key: string): Value | undefined {
    return this.entries.get(key);
  }

  /** The value, made where it is not there, and now the most recently used. */
  use(key: string): Value {
    const value = this.entries.get(key) ?? this.make();
    this.entries.delete(key);
    this.entries.set(key, value);
    if (this.entries.size > this.capacity) {
      const [oldest] = this.entries.keys();
      if (oldest !== undefined) this.entries.delete(oldest);
    }
    return value;
  }
}
