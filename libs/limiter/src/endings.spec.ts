import * as fc from 'fast-check';
import { paced } from './testing/makers.js';
import { CHECKED, start } from './testing/properties.js';
import { anyScenario } from './testing/scenarios.js';

describe('an ending', () => {
  it('property 6: grants whatever it makes room for: another look, at everything, finds nobody more', async () => {
    await fc.assert(
      fc.asyncProperty(anyScenario, fc.integer({ min: 1, max: 4 }), async (scenario, every) => {
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
  });
});
