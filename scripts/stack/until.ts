import { setTimeout as sleep } from 'node:timers/promises';

/** Between two looks at something that takes seconds. */
const LOOK_MS = 300;

/** @returns whether it came true within the limit; who waits in vain fails by what it sees then */
export async function until(isTrue: () => Promise<boolean>, limitMs: number): Promise<boolean> {
  const end = Date.now() + limitMs;
  while (!(await isTrue())) {
    if (Date.now() > end) return false;
    await sleep(LOOK_MS);
  }
  return true;
}
