import { isReason } from '../api/errors.js';

/**
 * Returns undefined if the object does not exist. A 404 that names no object means that the server does not serve the type;
 * that stays an error.
 */
export async function ignoreNotFound<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isReason(error, 'NotFound') && error.details?.name) return undefined;
    throw error;
  }
}
