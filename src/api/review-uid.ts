import { quote } from './go-text.js';

/** The maximum length of a UID that is shown, because a webhook may answer with any text. */
const mostShown = 1_024;

/** Returns the error for an answer to a review with a different UID. */
export const reviewUidMismatch = (expected: string, found: string): string =>
  `expected response.uid=${quote(expected)}, got ${quote(found.slice(0, mostShown))}`;
