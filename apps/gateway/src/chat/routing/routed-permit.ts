import type { GatewayError, Milliseconds, Target } from '@weir/kernel';
import type { Cost, Ending, Permit, Usage } from '@weir/limiter';
import type { Passage } from '@weir/retry';
import type { TargetHealth } from './target-health.js';

/** Who has to know that a permit has ended. */
export interface PermitWatch {
  readonly health: TargetHealth;
  /** @param error where it failed */
  ended(target: Target, error?: GatewayError): void;
}

/**
 * A permit whose ending is told to the breaker before it frees its slot, so that a half-open breaker never lets one
 * more through than it wants.
 */
export class RoutedPermit implements Permit {
  private over = false;

  constructor(
    private readonly inner: Permit,
    private readonly passage: Passage,
    private readonly watch: PermitWatch,
  ) {}

  get id(): string {
    return this.inner.id;
  }

  get target(): Target {
    return this.inner.target;
  }

  get reserved(): Cost {
    return this.inner.reserved;
  }

  get eligibleAt(): Milliseconds {
    return this.inner.eligibleAt;
  }

  get grantedAt(): Milliseconds {
    return this.inner.grantedAt;
  }

  get boundBy(): string | undefined {
    return this.inner.boundBy;
  }

  get boundRoom(): number | undefined {
    return this.inner.boundRoom;
  }

  get depthAtEntry(): number {
    return this.inner.depthAtEntry;
  }

  sent(): void {
    this.inner.sent();
  }

  /** The head of the answer was good. */
  answered(): void {
    this.watch.health.answered(this.target, this.passage);
  }

  /** The answer broke after its head. The permit is still to be settled. */
  broke(error: GatewayError): void {
    this.watch.health.failed(this.target, this.passage, error);
  }

  settle(usage: Usage): Ending {
    return this.end(() => this.inner.settle(usage));
  }

  fail(error: GatewayError): Ending {
    if (!this.over) this.watch.health.failed(this.target, this.passage, error);
    return this.end(() => this.inner.fail(error), error);
  }

  cancel(): Ending {
    return this.end(() => this.inner.cancel());
  }

  private end(how: () => Ending, error?: GatewayError): Ending {
    if (this.over) return how();
    this.over = true;
    this.watch.health.left(this.target, this.passage);
    const ending = how();
    this.watch.ended(this.target, error);
    return ending;
  }
}
