import { Roster } from '@weir/kernel';

/** An answer that is being made or delivered. */
export interface OpenAnswer {
  /** Bytes held in user space for it. */
  readonly bufferedBytes: number;
}

/** The answers that are open now: what a drain waits for, and what a slow caller costs. */
export class OpenAnswers {
  private readonly open = new Roster<OpenAnswer>();
  private readonly idle: (() => void)[] = [];

  /** Adds an answer; the function returned takes it out again, once. */
  add(answer: OpenAnswer): () => void {
    const stay = this.open.enter(answer);
    return () => {
      stay.leave();
      if (this.open.size === 0 && this.idle.length > 0) for (const wake of this.idle.splice(0)) wake();
    };
  }

  /** How many are open. */
  get count(): number {
    return this.open.size;
  }

  /** Bytes held for all of them. */
  get bufferedBytes(): number {
    let sum = 0;
    for (const answer of this.open) sum += answer.bufferedBytes;
    return sum;
  }

  /** Settles as soon as none is open. */
  whenIdle(): Promise<void> {
    if (this.open.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.idle.push(resolve));
  }
}
