import type { Environment } from '@weir/config';

/** How much is logged, from all to nothing. */
const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** What the environment says of logs and telemetry. */
export interface TelemetrySettings {
  /** Default `info`. */
  readonly logLevel: (typeof LOG_LEVELS)[number];
  /** Default `on`. */
  readonly mode: 'on' | 'off';
  /** Share of traces that is exported, 0 to 1; metrics are exact at any. Default 1. */
  readonly exportRatio: number;
  /** Where spans and metrics go by OTLP over HTTP; nowhere where it is left out. */
  readonly endpoint?: string;
  /** What the gateway is called; `weir` by default, and the version that npm started. */
  readonly service: { readonly name: string; readonly version: string };
}

/**
 * Reads the variables of docs/configuration.md that are about telemetry; an empty one counts as unset.
 * @throws Error that names the variable and what is allowed: a slip must not silently log everything or tell nobody
 */
export function telemetrySettings(env: Environment): TelemetrySettings {
  const endpoint = env['OTEL_EXPORTER_OTLP_ENDPOINT'] || undefined;
  const exportRatio = Number(env['WEIR_TRACE_EXPORT_RATIO'] || 1);
  if (!(exportRatio >= 0 && exportRatio <= 1))
    throw new Error('WEIR_TRACE_EXPORT_RATIO must be a number from 0 to 1.');
  return {
    logLevel: oneOf(env, 'WEIR_LOG_LEVEL', LOG_LEVELS, 'info'),
    mode: oneOf(env, 'WEIR_TELEMETRY', ['on', 'off'], 'on'),
    exportRatio,
    ...(endpoint === undefined ? {} : { endpoint }),
    service: {
      name: env['OTEL_SERVICE_NAME'] || 'weir',
      version: env['npm_package_version'] || '0.1.0',
    },
  };
}

function oneOf<Word extends string>(
  env: Environment,
  name: string,
  words: readonly Word[],
  standing: Word,
): Word {
  const value = env[name] || standing;
  const word = words.find((candidate) => candidate === value);
  if (word === undefined)
    throw new Error(`${name} is ${JSON.stringify(value)}; allowed: ${words.join(', ')}.`);
  return word;
}
