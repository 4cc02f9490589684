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

/** Fields that must never be printed, whoever passes them, down to two levels. */
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

/** JSON lines by pino: time in ISO 8601, level as a word, secrets and content censored. */
export function createLogger(options: LoggerOptions): Logger {
  const fields = [...SECRET_FIELDS, ...CONTENT_FIELDS].map((field) => `["${field}"]`);
  const settings = {
    level: options.level ?? 'info',
    base: { service: options.service },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (level: string) => ({ level }) },
    messageKey: 'event',
    redact: { paths: fields.flatMap((field) => [field, `*${field}`, `*.*${field}`]), censor: '[redacted]' },
  };
  const { write } = options;
  const log = write === undefined ? pino(settings) : pino(settings, { write });
  return {
    info: (event, more = {}) => {
      log.info(more, event);
    },
    warn: (event, more = {}) => {
      log.warn(more, event);
    },
    error: (event, thrown, more = {}) => {
      log.error({ ...more, ...describeError(thrown) }, event);
    },
  };
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
