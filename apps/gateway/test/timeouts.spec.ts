import { dataOf } from './harness/chunks.js';
import { errorIn, type Reply } from './harness/http-caller.js';
import { eventually, House, question } from './harness/house.js';

const STREAM = question({ stream: true });

function expectWhole({ status, text }: Reply): void {
  expect([status, dataOf(text).at(-1)]).toEqual([200, '[DONE]']);
}

describe('a provider that keeps us waiting', () => {
  let impatient: House;
  beforeAll(async () => {
    impatient = await House.start({
      retry: { budgetRatio: 1 },
      timeouts: { headersMs: 250, firstFrameMs: 250, idleMs: 250 },
    });
  });
  afterAll(() => impatient.close());
  afterEach(async () => {
    await impatient.quiet();
    await impatient.sim.reset();
  });

  it('for the first frame is asked again', async () => {
    await impatient.sim.faults({ times: 1, stallAtFrame: { frame: 1, ms: 60_000 } });
    expectWhole(await impatient.chat(STREAM));
    expect(await impatient.sim.total()).toMatchObject({ received: 2, completed: 1, aborted: 1 });
  });

  it('for its headers is asked again', async () => {
    await impatient.sim.faults({ times: 1, stallAtFrame: { frame: 1, ms: 60_000 } });
    const reply = await impatient.chat(question());
    expect([reply.status, reply.headers['x-weir-attempts']]).toEqual([200, '2']);
  });

  it('in the middle of its answer is not: the caller is told in-band', async () => {
    await impatient.sim.behaviour({ frames: 10 });
    await impatient.sim.faults({ times: 1, stallAtFrame: { frame: 5, ms: 60_000 } });
    const reply = await impatient.chat(STREAM);
    expect(reply.text).not.toContain('[DONE]');
    expect(errorIn(reply.text.split('event: error\ndata: ')[1] ?? '').code).toBe('upstream_timeout');
    const tally = await eventually(
      () => impatient.sim.total(),
      ({ aborted }) => aborted === 1,
    );
    expect(tally).toMatchObject({ received: 1, aborted: 1 });
  });

  it('no longer, because it resets the connection, is asked again', async () => {
    await impatient.sim.faults({ times: 1, resetAfterHeaders: true });
    expectWhole(await impatient.chat(STREAM));
    expect((await impatient.sim.total()).received).toBe(2);
  });

  it('with a web page is not asked again', async () => {
    await impatient.sim.faults({ times: 1, status: 200, html: true });
    const reply = await impatient.chat(STREAM);
    expect([reply.status, errorIn(reply.text).code]).toEqual([502, 'upstream_protocol']);
    expect((await impatient.sim.total()).received).toBe(1);
  });
});
