import { expect, test } from 'vitest';
import { escapeField, unescapeField } from '../../src/cel/field-names.js';

test.each([
  ['a', 'a'],
  ['a_b', 'a_b'],
  ['a__b', 'a__underscores__b'],
  ['a.b', 'a__dot__b'],
  ['a-b', 'a__dash__b'],
  ['a/b', 'a__slash__b'],
  ['x-y.z/w', 'x__dash__y__dot__z__slash__w'],
  ['namespace', '__namespace__'],
  ['in', '__in__'],
  ['while', '__while__'],
  ['____', '__underscores____underscores__'],
  ['constructor', 'constructor'],
  ['__proto__', '__underscores__proto__underscores__'],
])('the field %s is %s in expressions, and can be unescaped', (name, escaped) => {
  expect(escapeField(name)).toBe(escaped);
  expect(unescapeField(escaped)).toBe(name);
});

test.each(['', '1a', 'a b', 'ä', 'a$', 'a\n'])('%j cannot be used as a field in expressions', (name) => {
  expect(escapeField(name)).toBeUndefined();
});

test.each(['__what__', 'a__in__', '__in__b'])('%s is not an escaped field name', (escaped) => {
  expect(unescapeField(escaped)).toBeUndefined();
});
