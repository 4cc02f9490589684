import * as fc from 'fast-check';
import { paced } from './testing/makers.js';
import { CHECKED, start } from './testing/properties.js';
import { anyScenario, dimension, TEAMS, type Scenario } from './testing/scenarios.js';
import type { Wish } from './testing/simulation.js';

const size = fc.oneof(fc.constantFrom(0, 5, 20), fc.integer({ min: 200, max: 400 }));

/** Everybody comes at once; large ones own the next room, and answers cost more than was reserved for them. */
const crowd: fc.Arbitrary<Scenario> = fc.record({
  dimensions: fc
    .record({ account: fc.integer({ min: 800, max: 2_000 }), model: fc.integer({ min: 400, max: 1_000 }) })
    .map(({ account, model }) => [
      dimension({}, 'tokens', account),
      dimension({ model: 'm' }, 'tokens', model),
    ]),
  teams: fc.constant(TEAMS),
  wishes: fc.array(
    fc
      .record({
        at: fc.integer({ min: 0, max: 2_000 }),
        team: fc.constantFrom('a', 'b', 'c'),
        model: fc.constantFrom('m', 'n'),
        input: size,
        afterMs: fc.integer({ min: 1, max: 3_000 }),
        used: size,
      })
      .map(({ afterMs, used, ...rest }): Wish => {
        const outcomes = [{ kind: 'settle', afterMs, input: used, output: 0 } as const];
        return { ...rest, output: 0, patienceMs: 1e8, outcomes };
      }),
    { minLength: 10, maxLength: 40 },
  ),
});

describe('an ending', () => {
  it.each([
    { of: 'anything', scenarios: anyScenario },
    { of: 'a crowd whose answers cost more than they reserved', scenarios: crowd },
  ])(
    'property 6: grants whatever may go after it: another look, at everything, finds nobody more; $of',
    async ({ scenarios }) => {
      await fc.assert(
        fc.asyncProperty(scenarios, fc.integer({ min: 1, max: 4 }), async (scenario, every) => {
          const { simulation } = start(paced, scenario);
          const { limiter } = simulation;
          let endings = 0;
          simulation.afterEnd = () => {
            endings += 1;
            const { open, dimensions } = limiter.status();
            const [any] = dimensions;
            if (any === undefined || endings % every > 0) return;
            // The same limit again changes nothing, and has everybody looked at.
            limiter.setLimit(any.id, any.limit);
            expect(limiter.status().open).toBe(open);
          };
          await simulation.run();
        }),
        CHECKED,
      );
    },
  );
});
