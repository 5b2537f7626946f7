import { ApiError } from '../../src/api/errors.js';

/** What is said of a bad request; 'accepted' if nothing is. */
export const messageOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'BadRequest') return error.message;
    throw error;
  }
  return 'accepted';
};
