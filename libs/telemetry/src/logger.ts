import { GatewayError } from '@weir/kernel';
import { pino, stdTimeFunctions } from 'pino';

/** What a line may hold: names and numbers. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Structured logging, without a library's types. */
export interface Logger {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  /** @param thrown its kind and where it came from are logged; its message may quote what was sent, so it is not */
  error(event: string, thrown: unknown, fields?: LogFields): void;
}

/** How to log. */
export interface LoggerOptions {
  readonly service: string;
  /** Default `info`. */
  readonly level?: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** Where lines go; standard output by default. */
  readonly write?: (line: string) => void;
}

/** Fields that must never be printed, whoever passes them. */
const SECRET_FIELDS = [
  'authorization',
  'apiKey',
  'api_key',
  'api-key',
  'x-api-key',
  'cookie',
  'key',
  'password',
];
/** Fields that hold what people wrote. */
const CONTENT_FIELDS = ['messages', 'prompt', 'content', 'body', 'completion'];
const CENSORED: ReadonlySet<string> = new Set([...SECRET_FIELDS, ...CONTENT_FIELDS]);
/** How many levels below a line's own fields are looked at. */
const CENSORED_LEVELS = 2;

/**
 * Lines of requests are collected for a moment: a system call for each costs as much as the line itself, and holds up
 * everybody where nobody reads. Warnings and errors leave at once, and so does everything at the process's end.
 */
const OUTPUT = { dest: 1, sync: false, minLength: 16_000, periodicFlush: 100 };

/** JSON lines by pino: time in ISO 8601, level as a word, secrets and content censored. */
export function createLogger(options: LoggerOptions): Logger {
  const settings = {
    level: options.level ?? 'info',
    base: { service: options.service },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (level: string) => ({ level }) },
    messageKey: 'event',
  };
  const { write } = options;
  const log = write === undefined ? pino(settings, pino.destination(OUTPUT)) : pino(settings, { write });
  return {
    info: (event, more = {}) => {
      log.info(censored(more), event);
    },
    warn: (event, more = {}) => {
      log.warn(censored(more), event);
      log.flush();
    },
    error: (event, thrown, more = {}) => {
      log.error({ ...censored(more), ...describeError(thrown) }, event);
      log.flush();
    },
  };
}

/**
 * The fields without what must not be printed. Not pino's `redact`: that walks each of its paths in every line, which cost
 * a tenth of a whole request (2026-11).
 */
function censored(fields: LogFields, levels = CENSORED_LEVELS): LogFields {
  if (!Object.keys(fields).some((name) => CENSORED.has(name) || typeof fields[name] === 'object'))
    return fields;
  const clean: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields))
    clean[name] = CENSORED.has(name) ? '[redacted]' : censoredValue(value, levels);
  return clean;
}

function censoredValue(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null || levels === 0) return value;
  if (Array.isArray(value)) return value.map((item) => censoredValue(item, levels - 1));
  return censored({ ...value }, levels - 1);
}

/** Everything that helps to find the fault, and nothing that somebody sent. */
function describeError(thrown: unknown): LogFields {
  if (!(thrown instanceof Error)) return { error: typeof thrown };
  const { cause } = thrown;
  return {
    error: thrown instanceof GatewayError ? thrown.code : thrown.name,
    at: (thrown.stack ?? '')
      .replace(thrown.message, '')
      .split('\n')
      .filter((line) => /^\s+at /.test(line))
      .slice(0, 8)
      .map((line) => line.trim()),
    ...(cause instanceof Error ? { cause: describeError(cause) } : {}),
  };
}
