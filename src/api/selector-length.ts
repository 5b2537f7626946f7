import { badRequest } from './errors.js';

/** The maximum length of a selector, in characters; longer than any URL, because bodies contain selectors too. */
const maxSelectorLength = 131_072;

/** Throws BadRequest for a selector that is too long. */
export function checkLength(text: string): void {
  if (text.length > maxSelectorLength) {
    throw badRequest(`unable to parse requirement: selector is longer than ${maxSelectorLength} characters`);
  }
}
