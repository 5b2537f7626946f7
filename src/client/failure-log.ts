import { ApiError } from '../api/errors.js';
import { messageOf } from '../api/message-of.js';
import type { Logger } from '../runtime/logger.js';

/** How often it is told that trouble lasts. */
const tellEveryMs = 600_000;
/** Kinds of trouble that are told apart. */
const most = 20;

/** A failure of something elsewhere, for the log. */
interface Trouble {
  readonly error: unknown;
  /** Of the `monotonic` clock. */
  readonly now: number;
  readonly fields?: object;
  readonly message: string;
  /** It is a warning each time: what it was needed for has failed. */
  readonly always?: boolean;
}

/** What is told of trouble with a server that is asked again and again: each kind of it once, and that it lasts every ten minutes. */
export class FailureLog {
  /** What was told of the trouble that is not over. */
  readonly #told = new Set<string>();
  /** When trouble began or was last told of. */
  #quietSince = 0;

  /** Trouble began, which need not be told at once. */
  failureBegan(now: number): void {
    this.#quietSince = now;
  }

  /** Is it to be told? Then it counts as told. `isKnown`: it is expected, and told only if it lasts. */
  shouldReport(error: unknown, now: number, { isKnown = false }: { readonly isKnown?: boolean } = {}): boolean {
    const trouble = troubleOf(error);
    const isOther = !isKnown && !this.#told.has(trouble) && this.#told.size < most;
    if (!isOther && now - this.#quietSince < tellEveryMs) return false;
    this.#told.add(trouble);
    this.#quietSince = now;
    return true;
  }

  /** Logs trouble: a warning if it is news, for those who debug if not. */
  report(log: Logger, { error, now, fields = {}, message, always = false }: Trouble): void {
    const level = always || this.shouldReport(error, now) ? 'warn' : 'debug';
    log[level]({ err: fromElsewhere(error), ...fields }, message);
  }

  /** Whether any was told of what is over now. */
  recovered(): boolean {
    const wasTold = this.#told.size > 0;
    this.#told.clear();
    return wasTold;
  }
}

/** What kind of trouble it is: messages have versions, ports and times in them. */
function troubleOf(error: unknown): string {
  if (error instanceof ApiError) return error.reason ?? String(error.code);
  // A number is a status of HTTP, which many kinds have in common.
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : messageOf(error);
}

/** For the log: of what a server answered, or a connection did, a stack tells nothing, and the message all. */
export const withoutStack = (error: unknown): unknown =>
  error instanceof ApiError || (error instanceof Error && 'code' in error && typeof error.code === 'string')
    ? stackless(error, undefined)
    : error;

/** For the log: an error that says what happened elsewhere, and what it came of, without where that was noticed. */
const fromElsewhere = (error: unknown): unknown =>
  error instanceof Error ? stackless(error, fromElsewhere(error.cause)) : error;

const stackless = (error: Error, cause: unknown): object =>
  Object.create(error, {
    ...Object.getOwnPropertyDescriptors(error),
    stack: { value: undefined },
    cause: { value: cause },
  }) as object;
