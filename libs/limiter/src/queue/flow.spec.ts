import { ticketOf } from '../testing/makers.js';
import { Flow, type FlowTicket } from './flow.js';
import { ModelClass } from './model-class.js';

/** A flow of weight 2 at tag 10, where its class is. */
function house(waits: boolean): Flow {
  const model = new ModelClass<Flow>({ account: 'main', model: 'm' });
  const flow = new Flow(model, { id: 'a', weight: 2 }, []);
  [flow.tag, model.time, flow.since] = [10, 10, 1_000];
  if (waits) flow.add(ticketOf(1) as FlowTicket);
  return flow;
}

describe('what an attempt reserved too much', () => {
  it('comes back to a flow that has waited ever since, before the time of its class', () => {
    const flow = house(true);
    flow.correct(-1, 1_000, 2_000);
    expect(flow.tag).toBe(9.5);
  });

  it('is never more than a window’s worth before that time, however much it was', () => {
    const flow = house(true);
    for (let call = 0; call < 10; call += 1) flow.correct(-1, 1_000, 2_000);
    expect(flow.tag).toBe(9.5);
  });

  it('is none before that time where the flow rests, or rested meanwhile', () => {
    const [rests, rested] = [house(false), house(true)];
    rests.correct(-1, 1_000, 2_000);
    rested.correct(-1, 999, 2_000);
    expect([rests.tag, rested.tag]).toEqual([10, 10]);
  });

  it('is less by the part of a window for which others did without it', () => {
    const flow = house(true);
    flow.model.windowMs = 4_000;
    flow.correct(-0.8, 1_000, 2_000);
    expect(flow.tag).toBeCloseTo(10 - 0.3, 9);
    flow.correct(0.4, 1_000, 2_000);
    expect(flow.tag).toBeCloseTo(10 - 0.1, 9);
  });
});
