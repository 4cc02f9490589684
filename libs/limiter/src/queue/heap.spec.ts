import * as fc from 'fast-check';
import { Heap } from './heap.js';

const build = (keys: readonly number[]): Heap<number> => {
  const heap = new Heap<number>((a, b) => a < b);
  for (const key of keys) heap.push(key);
  return heap;
};

const drain = (heap: Heap<number>): number[] => {
  const keys: number[] = [];
  for (let key = heap.pop(); key !== undefined; key = heap.pop()) keys.push(key);
  return keys;
};

const ascending = (keys: readonly number[]): number[] => [...keys].sort((a, b) => a - b);

describe('heap', () => {
  it('gives in order what was pushed in any', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), (keys) => {
        expect(drain(build(keys))).toEqual(ascending(keys));
      }),
    );
  });

  it('keeps its order when some are taken in between, and when some die', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer()),
        fc.array(fc.option(fc.integer(), { nil: undefined })),
        (keys, steps) => {
          const heap = build(keys);
          let inside = ascending(keys);
          for (const step of steps) {
            if (step === undefined) expect(heap.pop()).toBe(inside.shift());
            else {
              heap.push(step);
              inside = ascending([...inside, step]);
            }
            expect(heap.peek()).toBe(inside[0]);
            expect(heap.size).toBe(inside.length);
          }
          heap.prune((key) => key % 2 === 0);
          expect(drain(heap)).toEqual(inside.filter((key) => key % 2 === 0));
        },
      ),
    );
  });
});
