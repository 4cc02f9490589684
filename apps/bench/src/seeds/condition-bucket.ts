/**
 * The token bucket of the first article, ported as it is: who finds too little wakes everybody and waits on a
 * condition for as long as the missing tokens take. A baseline; nothing of Weir uses it.
 */
export class ConditionBucket {
  private tokens: number;
  private refilledAt = performance.now();
  private readonly condition = new Condition();

  /** @param refillRate tokens a second */
  constructor(
    private readonly capacity: number,
    private readonly refillRate: number,
  ) {
    this.tokens = capacity;
  }

  /** @returns false where it took longer than `timeoutMs` */
  async acquire(tokens = 1, timeoutMs = Infinity): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      this.refill();
      if (this.tokens >= tokens) {
        this.tokens -= tokens;
        return true;
      }
      const remaining = deadline - performance.now();
      if (remaining <= 0) return false;
      const waitMs = ((tokens - this.tokens) / this.refillRate) * 1000;
      this.condition.notifyAll();
      await this.condition.wait(Math.min(waitMs, remaining));
    }
  }

  /** Gives tokens back, as the article does after a 429. */
  release(tokens = 1): void {
    this.tokens = Math.min(this.capacity, this.tokens + tokens);
    this.condition.notifyAll();
  }

  private refill(): void {
    const now = performance.now();
    this.tokens = Math.min(this.capacity, this.tokens + ((now - this.refilledAt) / 1000) * this.refillRate);
    this.refilledAt = now;
  }
}

/** A condition variable with a timeout. Waking goes through the event loop, as in asyncio. */
class Condition {
  private waiting: (() => void)[] = [];

  notifyAll(): void {
    const woken = this.waiting;
    this.waiting = [];
    for (const wake of woken) setImmediate(wake);
  }

  wait(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.waiting = this.waiting.filter((other) => other !== wake);
        resolve();
      }, timeoutMs);
      const wake = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.waiting.push(wake);
    });
  }
}
