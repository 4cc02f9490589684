import * as fc from 'fast-check';
import type { Cost } from '../limiter.js';
import { SizeTree } from './size-tree.js';
import type { Ticket } from './ticket.js';
import { ticketOf } from '../testing/makers.js';

const amount = fc.integer({ min: 0, max: 6 });
const cost = fc.record({ inputTokens: amount, outputTokens: amount });
const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('push' as const), cost }),
    fc.record({ kind: fc.constant('leave' as const), which: fc.nat({ max: 60 }) }),
    fc.record({ kind: fc.constant('find' as const), cost }),
  ),
  { maxLength: 60 },
);

const fits = (wanted: Cost, room: Cost): boolean =>
  wanted.inputTokens <= room.inputTokens && wanted.outputTokens <= room.outputTokens;

describe('size tree', () => {
  it('finds the oldest that fits, however they came and left', () => {
    fc.assert(
      fc.property(fc.array(cost, { maxLength: 10 }), steps, (first, list) => {
        let living = first.map((each, age) => ticketOf(age, each));
        const tree = new SizeTree(living);
        for (const [index, step] of list.entries()) {
          if (step.kind === 'push') {
            const newcomer = ticketOf(10 + index, step.cost);
            living.push(newcomer);
            tree.push(newcomer);
          } else if (step.kind === 'leave') {
            const gone = living[step.which];
            if (gone) gone.waiting = false;
            living = living.filter(({ waiting }) => waiting);
          } else {
            const found = tree.find((wanted) => (fits(wanted, step.cost) ? undefined : 1));
            expect(found.ticket).toBe(living.find((each) => fits(each.cost, step.cost)));
          }
        }
      }),
      { numRuns: 1_000, seed: 5 },
    );
  });

  it('asks no more of ten thousand of which none fits than of a hundred', () => {
    let asked = 0;
    const mean = (of: number): Ticket[] =>
      Array.from({ length: of }, (_, n) =>
        ticketOf(n, n % 2 ? { inputTokens: 9, outputTokens: 0 } : { inputTokens: 0, outputTokens: 9 }),
      );
    const questions = (of: number): number => {
      asked = 0;
      new SizeTree(mean(of)).find((wanted) => {
        asked += 1;
        return fits(wanted, { inputTokens: 5, outputTokens: 5 }) ? undefined : 1;
      });
      return asked;
    };
    expect(questions(10_000)).toBeLessThanOrEqual(questions(100));
  });
});
