import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withoutOuterSpaces, withoutTrailing } from '../../src/api/trim.js';

test('spaces are trimmed as by regular expressions', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(' ', 'a', '\t') }), (text) => {
      expect(withoutOuterSpaces(text)).toBe(text.replace(/^ +| +$/g, ''));
      expect(withoutTrailing(text, ' ')).toBe(text.replace(/ +$/, ''));
    }),
  );
});
