import { ApiError, codes, isReason } from '../api/errors.js';

/** Classifies errors that end a watch. */

/**
 * Whether the server failed internally, in an ERROR event or a response, so that resuming the watch would fail again.
 */
export const isFault = (error: unknown): boolean => error instanceof ApiError && error.code === codes.InternalError;

/**
 * Whether the watch cannot be resumed from its resource version: it is too old, of another history, in the future, or
 * invalid. Transient failures do not count, such as a busy server or an unreachable one behind a proxy.
 */
export const isOutdated = (error: unknown): boolean =>
  error instanceof ApiError &&
  error.code !== codes.TooManyRequests &&
  (error.code < 500 || isFault(error) || isReason(error, 'Timeout')) &&
  !isReason(error, 'Unauthorized') &&
  !isReason(error, 'Forbidden');

/** Whether the watch never began, because the server is busy or down: its resource version may still be valid. */
export const isRefused = (error: unknown): boolean =>
  error instanceof ApiError
    ? error.code === codes.TooManyRequests
    : error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
