import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startService, type Service } from './processes.js';

/**
 * Starts a gateway with a configuration of its own, and removes the file with it.
 * @param configuration content of its `weir.yaml`
 * @param watch as `startService` has it
 */
export async function startGateway(configuration: object, watch?: string): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-bench-'));
  const file = join(folder, 'weir.yaml');
  // JSON is YAML.
  await writeFile(file, JSON.stringify(configuration));
  const remove = (): Promise<void> => rm(folder, { recursive: true });
  try {
    const gateway = await startService('gateway', { WEIR_CONFIG: file, WEIR_PORT: '0' }, watch);
    return { ...gateway, stop: () => gateway.stop().then(remove) };
  } catch (thrown) {
    await remove();
    throw thrown;
  }
}

/** A key as a configuration names it. */
export function keyDigest(key: string): string {
  return `sha256:${createHash('sha256').update(key).digest('hex')}`;
}
