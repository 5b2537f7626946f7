import type { Logger } from '../runtime/logger.js';

interface NamedLogger extends Logger {
  /** The same logger without the name. */
  readonly unnamed: Logger;
}

/**
 * Returns a logger that adds the name of a runnable; a runnable or controller inside it replaces the name with its own.
 */
export function runnableLog(runnable: string, parent: Logger): Logger {
  const log = 'unnamed' in parent ? (parent as NamedLogger).unnamed : parent;
  const named = log.child({ runnable });
  const logger: NamedLogger = {
    unnamed: log,
    debug: (fields, message) => named.debug(fields, message),
    info: (fields, message) => named.info(fields, message),
    warn: (fields, message) => named.warn(fields, message),
    error: (fields, message) => named.error(fields, message),
    child: (fields) => ('controller' in fields ? log.child(fields) : runnableLog(runnable, log.child(fields))),
  };
  return logger;
}
