import { ApiError } from '../api/errors.js';
import { messageOf } from '../api/message-of.js';
import type { Logger } from '../runtime/logger.js';

/** The interval at which a lasting failure is logged again. */
const tellEveryMs = 600_000;
/** The maximum number of kinds of failures that are distinguished. */
const most = 20;

/** A failure of a remote service. */
interface ServiceFailure {
  readonly error: unknown;
  /** The time of the `monotonic` clock. */
  readonly now: number;
  readonly fields?: object;
  readonly message: string;
  /** Log a warning each time, because what needed the service has failed. */
  readonly always?: boolean;
}

/**
 * Limits the log lines about a server that keeps failing: each kind of failure once, and again every ten minutes while it
 * lasts.
 */
export class FailureLog {
  /** The kinds of failures logged since the last success. */
  readonly #reported = new Set<string>();
  /** The time when the failures began or were last logged. */
  #quietSince = 0;

  /** Records that failures begin, without logging. */
  failureBegan(now: number): void {
    this.#quietSince = now;
  }

  /**
   * Returns whether this failure is to be logged, and then counts it as logged. `isKnown`: the failure is expected, and
   * logged only if it lasts.
   */
  shouldReport(error: unknown, now: number, { isKnown = false }: { readonly isKnown?: boolean } = {}): boolean {
    const trouble = troubleOf(error);
    const isOther = !isKnown && !this.#reported.has(trouble) && this.#reported.size < most;
    if (!isOther && now - this.#quietSince < tellEveryMs) return false;
    this.#reported.add(trouble);
    this.#quietSince = now;
    return true;
  }

  /** Logs a failure: as a warning if `shouldReport` says so, otherwise at debug level. */
  report(log: Logger, { error, now, fields = {}, message, always = false }: ServiceFailure): void {
    const level = always || this.shouldReport(error, now) ? 'warn' : 'debug';
    log[level]({ err: fromElsewhere(error), ...fields }, message);
  }

  /** Records a success. Returns whether failures were logged since the last one. */
  recovered(): boolean {
    const wasTold = this.#reported.size > 0;
    this.#reported.clear();
    return wasTold;
  }
}

/**
 * Returns the kind of a failure: its reason or code if it has one, because messages contain versions, ports and times.
 */
function troubleOf(error: unknown): string {
  if (error instanceof ApiError) return error.reason ?? String(error.code);
  // A numeric code is an HTTP status, which many kinds of failures share.
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : messageOf(error);
}

/** Returns an error for the log without its stack where that is useless: for ApiErrors and connection errors. */
export const withoutStack = (error: unknown): unknown =>
  error instanceof ApiError || (error instanceof Error && 'code' in error && typeof error.code === 'string')
    ? stackless(error, undefined)
    : error;

/** Returns a remote error for the log with its causes, without stacks. */
const fromElsewhere = (error: unknown): unknown =>
  error instanceof Error ? stackless(error, fromElsewhere(error.cause)) : error;

const stackless = (error: Error, cause: unknown): object =>
  Object.create(error, {
    ...Object.getOwnPropertyDescriptors(error),
    stack: { value: undefined },
    cause: { value: cause },
  }) as object;
