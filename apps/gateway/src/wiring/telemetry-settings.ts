import type { Environment, Fault } from '@weir/config';

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

/** What was read, with defaults in place of what was wrong, and what was wrong. */
export interface TelemetryReading {
  readonly settings: TelemetrySettings;
  readonly faults: readonly Fault[];
}

/**
 * Reads the variables of docs/configuration.md that are about telemetry; an empty one counts as unset. A slip is a fault
 * for the caller to name: it must not silently log everything or tell nobody.
 */
export function telemetrySettings(env: Environment): TelemetryReading {
  const faults: Fault[] = [];
  const endpoint = env['OTEL_EXPORTER_OTLP_ENDPOINT'] || undefined;
  const exportRatio = Number(env['WEIR_TRACE_EXPORT_RATIO'] || 1);
  const isShare = exportRatio >= 0 && exportRatio <= 1;
  const isUsable = endpoint === undefined || isAddress(endpoint);
  const settings: TelemetrySettings = {
    logLevel: oneOf(env, { name: 'WEIR_LOG_LEVEL', words: LOG_LEVELS, standing: 'info' }, faults),
    mode: oneOf(env, { name: 'WEIR_TELEMETRY', words: ['on', 'off'], standing: 'on' }, faults),
    exportRatio: isShare ? exportRatio : 1,
    ...(endpoint !== undefined && isUsable && { endpoint }),
    service: {
      name: env['OTEL_SERVICE_NAME'] || 'weir',
      version: env['npm_package_version'] || '0.1.0',
    },
  };
  if (!isShare) faults.push(fault('WEIR_TRACE_EXPORT_RATIO', env, 'a number from 0 to 1'));
  if (!isUsable) faults.push(fault('OTEL_EXPORTER_OTLP_ENDPOINT', env, ADDRESS));
  return { settings, faults };
}

/** `/v1/traces` is appended to it, and it is logged. Credentials travel in `OTEL_EXPORTER_OTLP_HEADERS`. */
const ADDRESS = 'an http:// or https:// address without user, password, query or fragment';

function isAddress(value: string): boolean {
  const url = URL.parse(value);
  return url !== null && /^https?:\/\/[^\s?#]+$/i.test(value) && url.username === '' && url.password === '';
}

/** A variable that is one of a few words; `standing` where nothing, or nothing usable, is set. */
interface Choice<Word extends string> {
  readonly name: string;
  readonly words: readonly Word[];
  readonly standing: NoInfer<Word>;
}

function oneOf<Word extends string>(
  env: Environment,
  { name, words, standing }: Choice<Word>,
  faults: Fault[],
): Word {
  const value = env[name] || standing;
  const word = words.find((candidate) => candidate === value);
  if (word === undefined) faults.push(fault(name, env, words.join(', ')));
  return word ?? standing;
}

/** Whatever may hold a credential is not shown. */
function fault(path: string, env: Environment, allowed: string): Fault {
  const value = env[path] ?? '';
  return { path, value: /[@?#]/.test(value) ? '…' : JSON.stringify(value), allowed };
}
