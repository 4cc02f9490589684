import { Limiter } from '@weir/limiter';
import { StreamClient } from '@weir/upstream';
import { House, question } from './harness/house.js';

describe('the module', () => {
  let house: House;
  beforeAll(async () => {
    house = await House.start();
  });
  afterAll(() => house.close());

  it('gives limiter and stream client out by their tokens, one of each', () => {
    const { app } = house.gateway;
    const limiter = app.get<Limiter>(Limiter);
    const client = app.get<StreamClient>(StreamClient);
    expect(typeof limiter.enter).toBe('function');
    expect(typeof client.open).toBe('function');
    expect(app.get<Limiter>(Limiter)).toBe(limiter);
    expect(app.get<StreamClient>(StreamClient)).toBe(client);
  });

  it('serves requests with those very instances', async () => {
    const { app } = house.gateway;
    const enter = jest.spyOn(app.get<Limiter>(Limiter), 'enter');
    const open = jest.spyOn(app.get<StreamClient>(StreamClient), 'open');
    await house.chat(question());
    expect([enter.mock.calls.length, open.mock.calls.length]).toEqual([1, 1]);
  });
});
