import { GatewayError, systemClock } from '@weir/kernel';
import { pino } from 'pino';
import { textOf, type Line } from './line-batch.js';
import { standardOutput, type LogOutput } from './log-output.js';

/** What a line may hold: names and numbers. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Structured logging, without a library's types. */
export interface Logger {
  /** @param fields or what makes them when the line leaves */
  info(event: string, fields?: LogFields | (() => LogFields)): void;
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

/** JSON lines by pino: time in ISO 8601, level as a word, secrets and content censored. */
export function createLogger(options: LoggerOptions): Logger {
  const { service, level = 'info', write } = options;
  const tellLost = (lines: number): void => {
    log.warn({ lines }, 'log lines lost');
  };
  const out = write === undefined ? standardOutput(tellLost) : immediate(write);
  const isoTime = isoTimes();
  const log = pino(
    {
      level,
      base: { service },
      timestamp: isoTime,
      formatters: { level: (word: string) => ({ level: word }) },
      messageKey: 'event',
    },
    out,
  );
  const flatLine = flatLines(service, isoTime);
  return {
    info: (event, more = {}) => {
      if (typeof more === 'function' || isPlain(more)) {
        if (log.isLevelEnabled('info')) out.write(flatLine(event, more));
      } else log.info(censored(more), event);
    },
    warn: (event, more = {}) => {
      log.warn(censored(more), event);
      out.flush();
    },
    error: (event, thrown, more = {}) => {
      log.error({ ...censored(more), ...describeError(thrown) }, event);
      out.flush();
    },
  };
}

function immediate(write: (line: string) => void): LogOutput {
  return {
    write: (line) => {
      write(textOf(line));
    },
    flush: () => undefined,
  };
}

/**
 * What pino makes of an `info` whose fields are words and numbers, as that of every request is: from one native call, where
 * pino walks through the fields and leaves 12 KB of garbage (pino 10.4, 2026-11).
 */
function flatLines(
  service: string,
  isoTime: () => string,
): (event: string, fields: LogFields | (() => LogFields)) => Line {
  const base = `,"service":${JSON.stringify(service)}`;
  const lineOf = (time: string, event: string, fields: LogFields): string => {
    const body = JSON.stringify(fields).slice(1, -1);
    const separator = body === '' ? '' : ',';
    return `{"level":"info"${time}${base}${separator}${body},"event":${JSON.stringify(event)}}\n`;
  };
  return (event, fields) => {
    const time = isoTime();
    return () => lineOf(time, event, typeof fields === 'function' ? censored(fields()) : fields);
  };
}

/** As pino's own writes it, but the seconds are made once: a date is as dear as the rest of a line. */
function isoTimes(): () => string {
  let second = NaN;
  let start = '';
  return () => {
    const now = systemClock.epochNow();
    const at = Math.floor(now / 1000);
    if (at !== second) start = `,"time":"${new Date((second = at) * 1000).toISOString().slice(0, -4)}`;
    return `${start}${String(1000 + (now - at * 1000)).slice(1)}Z"`;
  };
}

/** Whether nothing has to be censored, or looked into. */
function isPlain(fields: LogFields): boolean {
  for (const name in fields) if (CENSORED.has(name) || !isPlainValue(fields[name])) return false;
  return true;
}

function isPlainValue(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'undefined':
      return true;
    default:
      return value === null;
  }
}

/**
 * The fields without what must not be printed. Not pino's `redact`: that walks each of its paths in every line, which cost
 * a tenth of a whole request (2026-11).
 */
function censored(fields: LogFields, levels = CENSORED_LEVELS): LogFields {
  if (isPlain(fields)) return fields;
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

/** How many causes of causes are told of; a chain of them may be a ring. */
const CAUSES = 4;

/** Everything that helps to find the fault, and nothing that somebody sent. */
function describeError(thrown: unknown, causes = CAUSES): LogFields {
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
    ...(cause instanceof Error && causes > 0 ? { cause: describeError(cause, causes - 1) } : {}),
  };
}
