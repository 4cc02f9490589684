import type { Clock } from '@weir/kernel';
import { DEFAULT_BEHAVIOUR, type Behaviour } from '../provider/behaviour.js';
import { FaultScript } from '../provider/faults.js';
import { Provider } from '../provider/provider.js';

/** All that the control API can see and change. */
export class Simulation {
  readonly provider: Provider;
  readonly faults = new FaultScript();
  behaviour: Behaviour = DEFAULT_BEHAVIOUR;
  private calls = 0;

  constructor(clock: Clock) {
    this.provider = new Provider(clock);
  }

  /** Ledger, quotas, faults, behaviour and the numbering of calls, as at the start. */
  reset(): void {
    this.provider.reset();
    this.faults.clear();
    this.behaviour = DEFAULT_BEHAVIOUR;
    this.calls = 0;
  }

  /** A number for the next call. */
  nextCall(): number {
    this.calls += 1;
    return this.calls;
  }
}
