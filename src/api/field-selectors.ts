import { badRequest } from './errors.js';
import { checkLength } from './selector-length.js';
import { sortTexts } from './text-order.js';

/**
 * Field selectors: parse, match, print. Grammar and error texts are those of kube-apiserver; texts of any length and
 * content are parsed in linear time.
 */

/** One condition on one field. */
export interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** A selector whose requirements must all hold; they are in the order of their texts. */
export interface FieldSelector {
  readonly requirements: readonly FieldRequirement[];
  /** The canonical form, with values escaped. */
  readonly text: string;
  /** Whether an object matches. `read` returns the text of a field; absent counts as "". */
  matches(read: (field: string) => string | undefined): boolean;
  /** Returns the value that a field must have, if the selector names one. */
  exactly(field: string): string | undefined;
}

/**
 * Parses the `fieldSelector` query text, without checking which fields a kind supports. Terms without field and value are
 * ignored. Throws BadRequest.
 */
export function parseFieldSelector(text: string): FieldSelector {
  checkLength(text);
  const requirements = sortTexts(splitTerms(text))
    .filter((term) => term !== '')
    .map((term) => parseTerm(term, text))
    .filter(({ field, value }) => field !== '' || value !== '');
  return fieldSelectorFrom(requirements);
}

const fieldSelectorFrom = (requirements: readonly FieldRequirement[]): FieldSelector => ({
  requirements,
  text: requirements.map(({ field, operator, value }) => `${field}${operator}${escapeFieldValue(value)}`).join(','),
  matches: (read) =>
    requirements.every(({ field, operator, value }) => ((read(field) ?? '') === value) === (operator === '=')),
  exactly: (field) => requirements.find((one) => one.field === field && one.operator === '=')?.value,
});

/** Escapes a literal for use as a value in a field selector. */
export const escapeFieldValue = (value: string): string => value.replace(/[\\,=]/g, (character) => `\\${character}`);

function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '\\') at++;
    else if (character === ',') {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...terms, text.slice(start)];
}

function parseTerm(term: string, selector: string): FieldRequirement {
  const found = /!=|==?/.exec(term);
  if (found === null) throw badRequest(`invalid selector: '${selector}'; can't understand '${term}'`);
  return {
    field: term.slice(0, found.index),
    operator: found[0] === '!=' ? '!=' : '=',
    value: unescapeFieldValue(term.slice(found.index + found[0].length)),
  };
}

function unescapeFieldValue(text: string): string {
  let out = '';
  let escaped = false;
  for (const character of text) {
    if (escaped) {
      if (!/[\\,=]/.test(character))
        throw badRequest(`invalid field selector: invalid escape sequence: \\${character}`);
      out += character;
      escaped = false;
    } else if (character === '\\') escaped = true;
    else if (character === ',' || character === '=') {
      throw badRequest(`invalid field selector: unescaped character in value: ${character.codePointAt(0)}`);
    } else out += character;
  }
  if (escaped) throw badRequest('invalid field selector: invalid escape sequence: \\');
  return out;
}
