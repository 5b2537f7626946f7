import { isReason } from '../api/errors.js';

/**
 * Undefined if there is no such object. A server that does not serve the type names no object in its 404, and nothing
 * is known of the object then: that stays an error.
 */
export async function ignoreNotFound<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isReason(error, 'NotFound') && error.details?.name) return undefined;
    throw error;
  }
}
