import { spawnSync } from 'node:child_process';

/** A program that tests need and npm does not bring. */
export interface NeededProgram {
  readonly name: string;
  /** Tells whether it is there. */
  readonly found: () => boolean;
  /** How to have it. */
  readonly remedy: string;
}

/** Prometheus and promtool, which Debian ships together. */
export const PROMETHEUS: NeededProgram = {
  name: 'Prometheus',
  found: () => spawnSync('promtool', ['--version']).status === 0,
  remedy: 'apt-get install prometheus',
};

/**
 * @returns `describe`; where a program is missing one that leaves the suite out, by name and reason. Under CI nothing is left
 * out: the suite runs, and fails.
 */
export function describeWith(
  ...programs: readonly NeededProgram[]
): (name: string, suite: () => void) => void {
  const missing = programs.filter(({ found }) => !found());
  if (missing.length === 0 || process.env['CI'] === 'true') return describe;
  const reason = missing.map(({ name, remedy }) => `${name} is missing: ${remedy}`).join('; ');
  return (name, suite) => {
    describe.skip(`${name} (left out: ${reason})`, suite);
  };
}
