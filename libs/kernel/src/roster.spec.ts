import { Roster } from './roster.js';

describe('Roster', () => {
  it('keeps the order of arrival, whoever leaves', () => {
    const roster = new Roster<string>();
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => roster.enter(name));
    expect([...roster]).toEqual(['a', 'b', 'c', 'd']);
    b?.leave();
    expect([roster.size, roster.oldest, [...roster]]).toEqual([3, 'a', ['a', 'c', 'd']]);
    a?.leave();
    d?.leave();
    expect([roster.size, roster.oldest, [...roster]]).toEqual([1, 'c', ['c']]);
    c?.leave();
    expect([roster.size, roster.oldest, [...roster]]).toEqual([0, undefined, []]);
    roster.enter('e');
    expect([...roster]).toEqual(['e']);
  });

  it('forgets each stay once', () => {
    const roster = new Roster<number>();
    const first = roster.enter(1);
    roster.enter(1);
    first.leave();
    first.leave();
    expect([roster.size, [...roster]]).toEqual([1, [1]]);
  });

  it('can be walked through by whoever sends its members away', () => {
    const roster = new Roster<number>();
    const stays = [0, 1, 2].map((number) => roster.enter(number));
    const met: number[] = [];
    for (const number of roster) {
      met.push(number);
      stays[number]?.leave();
    }
    expect([roster.size, met]).toEqual([0, [0, 1, 2]]);
  });

  it('leads from nobody who has left to anybody: or the garbage of one request would keep the next alive', () => {
    const roster = new Roster<string>();
    const [a, b] = [roster.enter('a'), roster.enter('b')];
    a.leave();
    roster.enter('c');
    b.leave();
    expect([a.before, a.after, b.before, b.after]).toEqual([undefined, undefined, undefined, undefined]);
  });
});
