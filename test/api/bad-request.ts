import { ApiError } from '../../src/api/errors.js';

/** Returns the message of a BadRequest that is thrown; 'accepted' if none is. */
export const messageOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'BadRequest') return error.message;
    throw error;
  }
  return 'accepted';
};
