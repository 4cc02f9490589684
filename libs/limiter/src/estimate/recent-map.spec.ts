import { RecentMap } from './recent-map.js';

function filled(capacity: number, keys: number): { map: RecentMap<object>; made: readonly object[] } {
  const map = new RecentMap(capacity, () => ({}));
  return { map, made: Array.from({ length: keys }, (_, key) => map.use(String(key))) };
}

describe('RecentMap', () => {
  it('makes each value once', () => {
    const { map, made } = filled(10, 5);
    expect(made.map((value, key) => map.use(String(key)) === value)).not.toContain(false);
    expect(new Set(made).size).toBe(5);
  });

  it('keeps as many as it may at most, and half of them for sure, the latest', () => {
    for (let keys = 1; keys <= 40; keys += 1) {
      const { map, made } = filled(10, keys);
      const kept = made.map((value, key) => map.peek(String(key)) === value);
      expect(kept.filter(Boolean).length).toBeLessThanOrEqual(10);
      expect(kept.slice(-5)).not.toContain(false);
    }
  });

  it('keeps what is used again, and not what is only looked at', () => {
    const map = new RecentMap(10, () => ({}));
    const [used, seen] = [map.use('used'), map.use('seen')];
    for (let key = 0; key < 100; key += 1) {
      map.use(String(key));
      map.peek('seen');
      expect(map.use('used')).toBe(used);
    }
    expect(map.peek('seen')).not.toBe(seen);
  });
});
