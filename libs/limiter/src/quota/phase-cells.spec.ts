import { PhaseCells } from './phase-cells.js';

/** Ten per second, cells that begin at whole seconds; the first one that the test sees is empty. */
function cells(): PhaseCells {
  return new PhaseCells({ amount: 10, perMs: 1_000 }, 0, -1_000);
}

/** When each of so many leaves, if all of them wait since `from`. */
function departures(gate: PhaseCells, count: number, from = 0): readonly number[] {
  let at = from;
  return Array.from({ length: count }, () => {
    at = gate.earliest({ amount: 1, first: 0, at }, at);
    expect(gate.fits(1, at)).toBe(true);
    gate.debit(1, at);
    return at;
  });
}

describe('phase-locked cells', () => {
  it('let go one after the other, so that a refusal of the first finds the others still here', () => {
    expect(departures(cells(), 10)).toEqual([0, 15, 30, 45, 60, 75, 90, 105, 120, 135]);
  });

  it('hold no more than their share: the next one begins the next cell', () => {
    expect(departures(cells(), 11).at(-1)).toBe(1_000);
  });

  it('catch up with a late timer at once, while they are open', () => {
    const late = departures(cells(), 10, 200);
    expect(late).toEqual(Array.from({ length: 10 }, () => 200));
  });

  it('let none go together where fewer than a cell holds may, not even after a late timer', () => {
    const gate = new PhaseCells({ amount: 10, perMs: 1_000 }, 0, -1_000, 6);
    const late = Array.from({ length: 7 }, (_, index) => 200 + 15 * index);
    expect(departures(gate, 8, 200)).toEqual([...late, 1_000]);
    expect(gate.earliest({ amount: 1, first: 2, at: 1_015 }, 1_015)).toBe(1_045);
    expect(gate.shifted(1_015).earliest({ amount: 1, first: 2, at: 1_500 }, 1_500)).toBe(1_530);
  });

  it('are closed for the rest: what comes then leaves with the next cell', () => {
    expect(departures(cells(), 1, 301)).toEqual([1_000]);
  });

  it('have room for all of the rest, or for nothing before its turn', () => {
    const gate = cells();
    expect(gate.room(0)).toBe(10);
    gate.debit(1, 0);
    expect([gate.room(10), gate.room(15), gate.room(301)]).toEqual([0, 9, 0]);
  });

  it('say when an amount passes after another that is debited now', () => {
    const gate = cells();
    expect(gate.earliest({ amount: 1, first: 4, at: 0 }, 0)).toBe(60);
    expect(gate.earliest({ amount: 1, first: 10, at: 0 }, 0)).toBe(1_000);
    expect(gate.fits(1, 0)).toBe(true);
  });

  it('keep their phase over a rest, also where something left before that is only noted in it', () => {
    const gate = cells();
    gate.debit(1, 0);
    gate.rest(100_000);
    gate.postpone(1, 0, 20);
    expect(departures(gate, 1, 100_400)).toEqual([101_000]);
    expect(gate.beganAnew).toBe(false);
  });

  it('begin anew with what comes after sixty of them in which nothing left', () => {
    const gate = cells();
    gate.debit(1, 0);
    expect(departures(gate, 1, 60_700)).toEqual([61_000]);
    const late = 122_700;
    expect(departures(gate, 10, late)).toEqual(Array.from({ length: 10 }, () => late));
    expect(departures(gate, 1, late)).toEqual([late + 850]);
  });
});
