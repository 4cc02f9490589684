import type { Priority } from '@weir/kernel';
import type { Ticket } from './ticket.js';
import { WaitingLine } from './waiting-line.js';

/** What a priority is worth inside its team: weights, never a strict order, so that nobody starves. */
export const PRIORITY_WEIGHTS: Readonly<Record<Priority, number>> = { high: 4, normal: 1, low: 0.25 };

/** The waiting requests of one priority inside a flow, first come first served. */
export class Lane<T extends Ticket> {
  readonly tickets = new WaitingLine<T>((a, b) => a.age < b.age);
  waiting = 0;
  /** Where its next request starts, in the flow's own virtual time. */
  tag = 0;

  constructor(readonly priority: Priority) {}

  /**
   * @param flowTime the flow's virtual time, which a lane that comes back is lifted to. A request of high priority
   * gets a head start of its own size, once per return: enough to go next, not enough to keep others waiting.
   */
  add(ticket: T, flowTime: number): void {
    if (this.waiting === 0) {
      const headStart = this.priority === 'high' ? ticket.share : 0;
      this.tag = Math.max(this.tag, flowTime - headStart);
    }
    this.tickets.push(ticket);
    this.waiting += 1;
  }

  /** One ticket stopped waiting. */
  drop(): void {
    this.waiting -= 1;
    this.tickets.tidy(this.waiting);
  }
}
