import { Blame } from './blame.js';
import { createDimension } from './quota/create-dimension.js';
import type { Dimension } from './quota/dimension.js';
import { dimension } from './testing/scenarios.js';

const EVENT_MS = 2_000;

/** A model of 5 under an account of 10, both full by half, and another model without a limit of its own. */
function house(used = { own: 5, others: 5 }): { account: Dimension; own: Dimension; blame: Blame } {
  const make = (...of: Parameters<typeof dimension>): Dimension =>
    createDimension(dimension(...of), 0, { presumeSpent: false });
  const account = make({}, 'requests', 10, { burst: 10, windowMs: 60_000 });
  const own = make({ model: 'm' }, 'requests', 5, { burst: 5, windowMs: 60_000 });
  own.debit(used.own, 0);
  account.debit(used.own + used.others, 0);
  return { account, own, blame: new Blame() };
}

describe('blame', () => {
  it('is the fuller one’s, and the account’s where they are as full', () => {
    const even = house();
    expect(even.blame.of([even.account, even.own], 'rate_limit_requests', 1)).toBe(even.account);
    const own = house({ own: 4, others: 1 });
    expect(own.blame.of([own.account, own.own], 'rate_limit_requests', 1)).toBe(own.own);
  });

  it('is the account’s at first, however little of it a model used that is not as full', () => {
    const { account, own, blame } = house({ own: 1, others: 9 });
    const blamed = [1, 2].map((n) => blame.of([account, own], 'rate_limit_requests', n * EVENT_MS));
    expect(blamed).toEqual([account, own]);
  });

  it('is the model’s where it alone is refused again and again, the sooner the less it calls', () => {
    const blamed = ({ account, own, blame }: ReturnType<typeof house>): (Dimension | undefined)[] =>
      [1, 2, 3].map((n) => blame.of([account, own], 'rate_limit_requests', n * EVENT_MS));
    const half = house();
    expect(blamed(half)).toEqual([half.account, half.own, half.own]);
    const most = house({ own: 3, others: 2 });
    most.own.setLimit(6, 0);
    expect(blamed(most)).toEqual([most.account, most.account, most.own]);
  });

  it('counts refusals that come one after the other as events, however close', () => {
    const { account, own, blame } = house();
    const blamed = [0, 1, 2].map((n) => blame.of([account, own], 'rate_limit_requests', n * 1_000));
    expect(blamed).toEqual([account, account, own]);
  });

  it('is the account’s as soon as another model is refused', () => {
    const { account, own, blame } = house();
    for (const n of [1, 2]) blame.of([account, own], 'rate_limit_requests', n * EVENT_MS);
    expect(blame.of([account], 'rate_limit_requests', 3 * EVENT_MS)).toBe(account);
    expect(blame.of([account, own], 'rate_limit_requests', 4 * EVENT_MS)).toBe(account);
  });

  it('counts refusals of what was in flight together once', () => {
    const { account, own, blame } = house();
    for (const at of [1, 2, 3, 4]) expect(blame.of([account, own], 'rate_limit_requests', at)).toBe(account);
  });

  it('is the account’s where nobody else calls it: chance explains every run', () => {
    const { account, own, blame } = house({ own: 5, others: 0 });
    account.setLimit(5, 0);
    for (let n = 1; n < 20; n += 1)
      expect(blame.of([account, own], 'rate_limit_requests', n * EVENT_MS)).toBe(account);
  });
});
