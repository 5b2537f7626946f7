import { type Logger as PinoLogger, pino } from 'pino';
import { setImmediate } from './event-loop.js';
import type { Logger } from './logger.js';
import { prettyLine } from './pretty-line.js';
import { redacted } from './redaction.js';

/** The least that is logged; `silent` is nothing. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** What is logged, how it looks and where it goes. */
export interface LoggerOptions {
  /** `json`: one object a line with `level` (text), `time` (ISO 8601, UTC), the fields and `msg`. Default json. */
  readonly format?: 'json' | 'pretty';
  /** Default info. */
  readonly level?: LogLevel;
  /** Default: standard output. */
  readonly destination?: { write(text: string): unknown; readonly isTTY?: boolean | undefined };
  /** Colours of `pretty`. Default: only on a terminal, and not if NO_COLOR is set. */
  readonly colour?: boolean;
  readonly now?: () => number;
}

/** The logger of the program. Tokens, keys and passwords never reach a line. */
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

/** So much is written at once, in characters. */
const fullBatch = 65_536;

type Destination = NonNullable<LoggerOptions['destination']>;
let ofProcess: Destination | undefined;

/** One for all loggers of a process: each would wait for the end of the process, and tests make one for each server. */
const standardOutput = (): Destination => (ofProcess ??= perTurn(process.stdout));

/** One write for all lines of a turn of the event loop, because each is a system call. */
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

/** Every field passes the redaction on its way, those bound to a child once. */
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
