/** One stay on a roster; to leave by. */
export class Stay<Member> {
  /** Neighbours, while it lasts: nothing that has left leads to anybody. */
  before: Stay<Member> | undefined;
  after: Stay<Member> | undefined;

  constructor(
    readonly member: Member,
    private roster: Roster<Member> | undefined,
  ) {}

  /** Idempotent. */
  leave(): void {
    const { roster } = this;
    this.roster = undefined;
    roster?.remove(this);
  }
}

/**
 * Who is there now, in the order in which they came; for what comes and goes with every request.
 *
 * Not a `Set` or a `Map`, because of what those cost in garbage collection (V8 13.6, measured 2026-11). They replace
 * their table every few changes, and each old table leads to its successor. As soon as a full collection has made one of
 * them old, the small collections take it for alive, and with it every later table and whatever each of them held: whole
 * requests, long over, are copied twice and die in the next full collection only. Seven times the CPU, in a loop that
 * does nothing else.
 */
export class Roster<Member> implements Iterable<Member> {
  private first: Stay<Member> | undefined;
  private last: Stay<Member> | undefined;
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** Whoever came first of those that are there. */
  get oldest(): Member | undefined {
    return this.first?.member;
  }

  enter(member: Member): Stay<Member> {
    const stay = new Stay(member, this);
    stay.before = this.last;
    if (this.last === undefined) this.first = stay;
    else this.last.after = stay;
    this.last = stay;
    this.count += 1;
    return stay;
  }

  /** For {@link Stay.leave} only. */
  remove(stay: Stay<Member>): void {
    const { before, after } = stay;
    if (before === undefined) this.first = after;
    else before.after = after;
    if (after === undefined) this.last = before;
    else after.before = before;
    stay.before = undefined;
    stay.after = undefined;
    this.count -= 1;
  }

  /** Oldest first. Of those that are there, only the one that was given last may leave meanwhile. */
  *[Symbol.iterator](): Generator<Member> {
    for (let stay = this.first; stay !== undefined;) {
      const { after, member } = stay;
      yield member;
      stay = after;
    }
  }
}
