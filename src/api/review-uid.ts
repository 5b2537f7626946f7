import { quote } from './go-text.js';

/** A webhook chooses what it answers, and may be anybody. */
const mostShown = 1_024;

/** What is wrong with the answer to a review that names another one. */
export const reviewUidMismatch = (asked: string, found: string): string =>
  `expected response.uid=${quote(asked)}, got ${quote(found.slice(0, mostShown))}`;
