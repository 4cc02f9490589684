import { didYouMean } from './closest.js';

/** The environment variables, passed in: nothing in this library reads the process's own. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables of ours that a gateway reads, as docs/configuration.md lists them. */
export const OWN_VARIABLES = [
  'WEIR_CONFIG',
  'WEIR_HOST',
  'WEIR_PORT',
  'WEIR_STATE_FILE',
  'WEIR_LOG_LEVEL',
  'WEIR_TELEMETRY',
  'WEIR_TRACE_EXPORT_RATIO',
] as const;

/** Variables of what stands beside a gateway: compose files, the alerts' webhook, the load of the demo. */
const NEIGHBOURS = ['WEIR_ALERT_WEBHOOK', 'WEIR_CONFIG_FILE', 'WEIR_URL'];

/**
 * Names like ours that nobody reads, most likely slips; their values are not told.
 * @param used names that the file refers to, which are its own affair
 */
export function unreadVariables(env: Environment, used: ReadonlySet<string>): readonly string[] {
  const known = new Set<string>([...OWN_VARIABLES, ...NEIGHBOURS, ...used]);
  return Object.keys(env)
    .filter((name) => name.startsWith('WEIR_') && !known.has(name) && variable(env, name) !== undefined)
    .map((name) => {
      const guess = didYouMean(name, OWN_VARIABLES);
      return `${name} is set, but nothing reads it${guess === '' ? '.' : guess}`;
    });
}

/** A variable's value. Empty counts as unset, because compose files pass on what is not there as ''. */
export function variable(env: Environment, name: string): string | undefined {
  const value = env[name];
  return value === '' ? undefined : value;
}
