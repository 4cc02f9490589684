/** Something that lets its callers go on at a rate. */
export interface Contender {
  /** Resolves when caller number `index` may go on. */
  acquire(index: number): Promise<unknown>;
  /** What is to be done once a caller has gone on and come back, where anything is. */
  release?(granted: unknown, index: number): void;
  /** Callers with the same number keep their order; left out: all of them. */
  flowOf?(index: number): number;
}
