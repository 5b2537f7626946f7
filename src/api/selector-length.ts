import { badRequest } from './errors.js';

/** Longest selector read, in characters; more than any URL holds, but selectors also stand in bodies. */
const maxSelectorLength = 131_072;

/** Throws BadRequest. */
export function checkLength(text: string): void {
  if (text.length > maxSelectorLength) {
    throw badRequest(`unable to parse requirement: selector is longer than ${maxSelectorLength} characters`);
  }
}
