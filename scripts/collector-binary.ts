import { globSync } from 'node:fs';
import { join } from 'node:path';
import type { NeededProgram } from './needs-program.js';

/** @returns the collector that otel/build-collector.sh has built; it keeps one */
export function collectorBinary(): string | undefined {
  const cache = join(__dirname, '../.cache/otelcol');
  const [binary] = globSync('*/otelcol', { cwd: cache, exclude: (path) => path.startsWith('work') });
  return binary === undefined ? undefined : join(cache, binary);
}

/** The collector, which no package brings. */
export const COLLECTOR: NeededProgram = {
  name: 'The collector',
  found: () => collectorBinary() !== undefined,
  remedy: 'otel/build-collector.sh builds it, with Go',
};
