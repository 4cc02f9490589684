import * as fc from 'fast-check';
import { Heap } from './heap.js';

interface Item {
  key: number;
  index: number;
}

const build = (keys: readonly number[]): { heap: Heap<Item>; items: Item[] } => {
  const heap = new Heap<Item>(
    (a, b) => a.key < b.key,
    (item, index) => {
      item.index = index;
    },
  );
  const items = keys.map((key) => ({ key, index: -1 }));
  for (const item of items) heap.push(item);
  return { heap, items };
};

const drain = (heap: Heap<Item>): number[] => {
  const keys: number[] = [];
  for (let item = heap.pop(); item !== undefined; item = heap.pop()) keys.push(item.key);
  return keys;
};

const ascending = (keys: readonly number[]): number[] => [...keys].sort((a, b) => a - b);

describe('heap', () => {
  it('gives in order what was pushed in any', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), (keys) => {
        expect(drain(build(keys).heap)).toEqual(ascending(keys));
      }),
    );
  });

  it('keeps its order when entries move, leave from the middle, or die', () => {
    const moves = fc.array(fc.tuple(fc.nat(), fc.integer(), fc.constantFrom('move', 'remove')));
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1 }), moves, fc.integer(), (keys, list, dead) => {
        const { heap, items } = build(keys);
        const inside = new Set(items);
        for (const [place, key, kind] of list) {
          const item = items[place % items.length];
          if (!item || !inside.has(item)) continue;
          if (kind === 'remove') {
            heap.removeAt(item.index);
            inside.delete(item);
          } else {
            item.key = key;
            heap.moved(item.index);
          }
        }
        heap.prune(({ key }) => key !== dead);
        const left = [...inside].map(({ key }) => key).filter((key) => key !== dead);
        expect(drain(heap)).toEqual(ascending(left));
      }),
    );
  });
});
