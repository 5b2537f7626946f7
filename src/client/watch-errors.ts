import { ApiError, codes, isReason } from '../api/errors.js';

/** What an error says of a watch that it ended. */

/** An ERROR event, or an answer, of a server that failed at this watch: it would fail again. */
export const isFault = (error: unknown): boolean => error instanceof ApiError && error.code === codes.InternalError;

/**
 * The place in history is of no more use: too old, from another history, not yet reached, or none that the server can
 * go on from. Trouble that passes is not, as when the server is busy or a proxy does not reach it.
 */
export const isOutdated = (error: unknown): boolean =>
  error instanceof ApiError &&
  error.code !== codes.TooManyRequests &&
  (error.code < 500 || isFault(error) || isReason(error, 'Timeout')) &&
  !isReason(error, 'Unauthorized') &&
  !isReason(error, 'Forbidden');

/** The watch never began, as the server is busy or down: nothing is known of the place in history. */
export const isRefused = (error: unknown): boolean =>
  error instanceof ApiError
    ? error.code === codes.TooManyRequests
    : error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
