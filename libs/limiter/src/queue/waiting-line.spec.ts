import * as fc from 'fast-check';
import type { Ticket } from './ticket.js';
import { ticketOf } from '../testing/makers.js';
import { WaitingLine } from './waiting-line.js';

type Numbered = Ticket & { readonly age: number };

const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('push' as const), age: fc.nat({ max: 1_000 }) }),
    fc.record({ kind: fc.constant('leave' as const), which: fc.nat({ max: 200 }) }),
    fc.record({ kind: fc.constant('serve' as const) }),
  ),
  { maxLength: 200 },
);

describe('ticket order', () => {
  it('gives the first of those that still wait, however they came and left, and keeps few dead ones', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const order = new WaitingLine<Numbered>((a, b) => a.age < b.age);
        let living: Numbered[] = [];
        const leave = (gone: Numbered | undefined): void => {
          if (gone === undefined) return;
          gone.waiting = false;
          living = living.filter((each) => each !== gone);
          order.tidy(living.length);
        };
        for (const step of list) {
          if (step.kind === 'push') {
            const newcomer = ticketOf(step.age);
            living.push(newcomer);
            order.push(newcomer);
          } else leave(step.kind === 'leave' ? living[step.which % (living.length + 1)] : order.first());
          const least = Math.min(...living.map(({ age }) => age));
          expect(order.first()?.age ?? Infinity).toBe(least);
          expect(new Set(order.living())).toEqual(new Set(living));
        }
      }),
    );
  });
});
