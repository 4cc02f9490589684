import { median } from '../statistics.js';
import type { LoadName } from './loads.js';
import type { Measurement } from './measure.js';
import type { TargetName } from './targets.js';

/** Everything that was measured, by load and target, one of each a round. */
export class Results {
  private readonly rounds = new Map<string, Measurement[]>();

  add(load: LoadName, target: TargetName, measurement: Measurement): void {
    const key = keyOf(load, target);
    this.rounds.set(key, [...(this.rounds.get(key) ?? []), measurement]);
  }

  /** The median over the rounds; NaN of nothing. */
  of(load: LoadName, target: TargetName, what: keyof Measurement): number {
    return median(this.all(load, target).map((measurement) => measurement[what]));
  }

  /**
   * How many times as many answers a target gives for a second of its CPU as another: the median of the rounds' own
   * ratios, because the machine is not equally busy in every round.
   */
  ratio(load: LoadName, target: TargetName, other: TargetName): number {
    const others = this.all(load, other);
    return median(this.all(load, target).map(({ cpuUs }, round) => (others[round]?.cpuUs ?? NaN) / cpuUs));
  }

  private all(load: LoadName, target: TargetName): readonly Measurement[] {
    return this.rounds.get(keyOf(load, target)) ?? [];
  }
}

function keyOf(load: LoadName, target: TargetName): string {
  return `${load}\n${target}`;
}
