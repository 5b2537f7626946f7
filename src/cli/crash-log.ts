import type { Logger } from '../runtime/logger.js';

/**
 * Logs what nobody caught. A rejection that nobody handles leaves the process as it is; resolves at the first exception,
 * after which nobody knows what state it is in and it should be stopped. A second one ends it at once.
 */
export function firstCrash(log: Logger): Promise<Error> {
  process.on('unhandledRejection', (reason) => log.error({ err: reason }, 'unhandled rejection'));
  return new Promise((resolve) => {
    let crashed = false;
    process.on('uncaughtException', (error) => {
      log.error({ err: error }, 'uncaught exception');
      if (crashed) process.exit(1);
      crashed = true;
      resolve(error);
    });
  });
}
