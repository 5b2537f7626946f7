import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareText, sortedNames, sortTexts } from '../../src/api/text-order.js';

/**
 * Few characters, so that texts have common prefixes, and surrogates are compared with characters above and below them.
 */
const texts = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '\ud7ff', '\ue000', 'Ａ', '😀', '😁') }));
const byBytes = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));

test('texts are sorted by their UTF-8 bytes', () => {
  fc.assert(
    fc.property(texts, (given) => {
      const sorted = given.toSorted(byBytes);
      expect(sortTexts([...given])).toEqual(sorted);
      expect(sortedNames(new Map(given.map((name) => [name, 0])))).toEqual([...new Set(sorted)]);
      const [one = '', other = ''] = given;
      expect(Math.sign(compareText(one, other))).toBe(byBytes(one, other));
    }),
  );
});
