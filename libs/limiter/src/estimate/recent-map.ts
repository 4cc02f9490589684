/**
 * A map that forgets what was not used for long, because callers choose its keys. It has two generations: what is used
 * is put into the younger one, and when that has grown to half of what may be kept, the older one is forgotten for it.
 * So a use is a look-up; to move a key to the end of one map with each use would replace its table all the time.
 */
export class RecentMap<Value> {
  private young = new Map<string, Value>();
  private old: ReadonlyMap<string, Value> = new Map();

  /** @param capacity how many are kept at most; half of them for sure */
  constructor(
    private readonly capacity: number,
    private readonly make: () => Value,
  ) {}

  /** The value, if it is there. Looking does not count as use. */
  peek(key: string): Value | undefined {
    return this.young.get(key) ?? this.old.get(key);
  }

  /** The value, made where it is not there. */
  use(key: string): Value {
    const known = this.young.get(key);
    if (known !== undefined) return known;
    const value = this.old.get(key) ?? this.make();
    if (this.young.size >= Math.ceil(this.capacity / 2)) {
      this.old = this.young;
      this.young = new Map();
    }
    this.young.set(key, value);
    return value;
  }
}
