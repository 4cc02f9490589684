import { createHash } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REPOSITORY } from '../processes.js';
import { LOADS } from './loads.js';
import { startProgram, type ServerProcess } from './server-process.js';

/** Where `nest build gateway` puts the service. */
export const BUILT_GATEWAY = join(REPOSITORY, 'dist/apps/gateway');

const TEAM_KEY = 'team-key-of-the-bench';
/** What callers of Weir send along. */
export const WEIR_HEADERS = { authorization: `Bearer ${TEAM_KEY}` };

/** What of Weir's telemetry runs. */
export type TelemetrySetting = 'off' | { readonly exportRatio: number; readonly sink: string };

/** A gateway whose limits are real and never bind. */
export async function startWeir(
  provider: string,
  telemetry: TelemetrySetting,
  built = BUILT_GATEWAY,
  nodeOptions: readonly string[] = [],
): Promise<ServerProcess> {
  const file = join(await mkdtemp(join(tmpdir(), 'weir-bench-')), 'weir.yaml');
  // JSON is YAML.
  await writeFile(file, JSON.stringify(configuration(provider)));
  return startProgram((port) => ({
    arguments: [...nodeOptions, join(built, 'apps/gateway/src/main.js')],
    environment: {
      NODE_ENV: 'production',
      WEIR_CONFIG: file,
      WEIR_PORT: String(port),
      ...settings(telemetry),
    },
    readyPath: '/readyz',
  }));
}

function settings(telemetry: TelemetrySetting): Readonly<Record<string, string>> {
  if (telemetry === 'off') return { WEIR_TELEMETRY: 'off' };
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: telemetry.sink,
    WEIR_TRACE_EXPORT_RATIO: String(telemetry.exportRatio),
  };
}

function configuration(provider: string): object {
  const limits = { requestsPerMinute: 60_000_000, burst: 100_000, tokensPerMinute: 60_000_000_000 };
  const models = LOADS.map(({ name }) => [name, { limits }] as const);
  const digest = createHash('sha256').update(TEAM_KEY).digest('hex');
  return {
    accounts: [
      {
        id: 'fake',
        baseUrl: `${provider}/v1`,
        apiKey: 'key-of-the-provider',
        limits: { ...limits, concurrency: 10_000 },
        models: Object.fromEntries(models),
      },
    ],
    teams: [{ id: 'bench', keys: [`sha256:${digest}`], limits: { tokensPerMinute: 60_000_000_000 } }],
  };
}
