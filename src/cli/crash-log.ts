import type { Logger } from '../runtime/logger.js';

/**
 * Logs unhandled errors. The process continues after an unhandled rejection. The promise resolves with the first
 * uncaught exception, after which the process should be stopped, because its state is unknown. A second exception ends
 * it at once.
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
