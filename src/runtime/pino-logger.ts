import { type Logger as PinoLogger, pino } from 'pino';
import { setImmediate } from './event-loop.js';
import type { Logger } from './logger.js';
import { prettyLine } from './pretty-line.js';
import { redacted } from './redaction.js';

/** The lowest level that is logged; `silent` logs nothing. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** The level, format and destination of log lines. */
export interface LoggerOptions {
  /**
   * Format of log lines: `json` (the default), one object per line with `level` (text), `time` (ISO 8601, UTC), the
   * fields and `msg`; or `pretty`, for people.
   */
  readonly format?: 'json' | 'pretty';
  /** Lowest level that is logged; `info` by default. */
  readonly level?: LogLevel;
  /** Destination of log lines; standard output by default. */
  readonly destination?: { write(text: string): unknown; readonly isTTY?: boolean | undefined };
  /** Whether `pretty` uses colours; by default only on a terminal, and not if NO_COLOR is set. */
  readonly colour?: boolean;
  readonly now?: () => number;
}

/** Creates the logger of the program. Tokens, keys and passwords are never logged. */
export function createLogger(options: LoggerOptions = {}): Logger {
  const { format = 'json', level = 'info', now = Date.now } = options;
  const destination = options.destination ?? standardOutput();
  const colour = options.colour ?? (destination.isTTY === true && !process.env['NO_COLOR']);
  const write = (line: string): unknown => destination.write(format === 'json' ? line : prettyLine(line, { colour }));
  const output = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date(now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error: unknown) => error },
    },
    { write },
  );
  return discreet(output);
}

/** The number of characters after which a batch is written. */
const fullBatch = 65_536;

type Destination = NonNullable<LoggerOptions['destination']>;
let ofProcess: Destination | undefined;

/** Shared by all loggers of a process, because each would listen for its exit, and tests make a logger for each server. */
const standardOutput = (): Destination => (ofProcess ??= perTurn(process.stdout));

/** Writes all lines of a turn of the event loop at once, because each write is a system call. */
function perTurn(output: NodeJS.WriteStream): Destination {
  let lines = '';
  const flush = (): void => {
    if (lines !== '') output.write(lines);
    lines = '';
  };
  process.once('exit', flush);
  return {
    isTTY: output.isTTY,
    write(line) {
      if (lines === '') setImmediate(flush);
      lines += line;
      if (lines.length >= fullBatch) flush();
    },
  };
}

/** Redacts every field before it is logged; those bound to a child only once. */
function discreet(output: PinoLogger): Logger {
  const at =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (fields: object, message: string): void => {
      if (output.isLevelEnabled(level)) output[level](redacted(fields), message);
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => discreet(output.child(redacted(fields) as Record<string, unknown>)),
  };
}
