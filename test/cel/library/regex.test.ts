import { expect, test } from 'vitest';
import { outcome } from './outcome.js';

/** Each with its actual and its estimated cost. */
test.each([
  [`'abc 123 def 456'.find('[0-9]+')`, '"123"', 4, 4],
  [`'abc'.find('[0-9]+')`, '""', 2, 2],
  [`'abc'.find('')`, '""', 0, 0],
  [`'héllo'.find('(?i)É.')`, '"él"', 2, 2],
  [`'abc'.find('(')`, '! error parsing regexp: missing closing ): `(`', 0, 1],
  [`'abc'.find(dyn('('))`, '! error parsing regexp: missing closing ): `(`', 0, 2],
  [
    `'abc'.find('a' + '\\\\')`,
    '! Illegal regex: error parsing regexp: trailing backslash at end of expression: ``',
    2,
    2,
  ],
  [`'abc 123 def 456'.findAll('[0-9]+')`, '["123", "456"]', 4, 4],
  [`'abc 123 def 456'.findAll('[0-9]+', 1)`, '["123"]', 4, 4],
  [`'abc 123 def 456'.findAll('[0-9]+', 0)`, '[]', 4, 4],
  [`'abc 123'.findAll('[A-Z]+')`, '[]', 2, 2],
  [`'baaau'.findAll('a*')`, '["", "aaa", ""]', 1, 1],
  [`'a😀b'.findAll('')`, '["", "", "", ""]', 0, 0],
  [`'a😀b'.findAll('.')`, '["a", "😀", "b"]', 1, 1],
  [`dyn(['a']).find('a')`, '! no such overload', 1, 12],
] as const)('%s returns %s at cost %i', (expression, answer, cost, estimate) => {
  expect(outcome(expression)).toEqual({ answer, cost, estimate });
});
