// Structured log lines: a constant message and key/value pairs, to standard error.
import pino from 'pino';

export type LogFields = Readonly<Record<string, unknown>>;

export type Log = {
  readonly error: (message: string, fields?: LogFields) => void;
  readonly warn: (message: string, fields?: LogFields) => void;
  readonly info: (message: string, fields?: LogFields) => void;
  readonly debug: (message: string, fields?: LogFields) => void;
  /** The same log with these fields in every line. */
  readonly with: (fields: LogFields) => Log;
};

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export function createLog(level: LogLevel): Log {
  // Synchronous, so that the last lines before a crash are written.
  const destination = pino.destination({ fd: 2, sync: true });
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  return wrap(logger);
}

/** Merges fields here, because pino's child loggers write a field twice when child and call both have it. */
function wrap(logger: pino.Logger, common: LogFields = {}): Log {
  const write =
    (level: 'error' | 'warn' | 'info' | 'debug') =>
    (message: string, fields: LogFields = {}): void =>
      logger[level]({ ...common, ...fields }, message);
  return {
    error: write('error'),
    warn: write('warn'),
    info: write('info'),
    debug: write('debug'),
    with: (fields) => wrap(logger, { ...common, ...fields }),
  };
}

/** Discards everything, for tests. */
export const silentLog: Log = {
  error: () => {},
  warn: () => {},
  info: () => {},
  debug: () => {},
  with: () => silentLog,
};
