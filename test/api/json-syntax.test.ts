import fc from 'fast-check';
import { expect, test } from 'vitest';
import { syntaxError } from '../../src/api/json-syntax.js';
import { maxDepth } from '../../src/api/json-text.js';

test('the scanner refuses exactly what JSON.parse refuses', () => {
  const character = fc.constantFrom(...'{}[]",:\\/ abeflnrstu0123456789.+-E\n\t');
  fc.assert(
    fc.property(fc.string({ unit: character, maxLength: 12 }), (text) => {
      let valid = true;
      try {
        JSON.parse(text);
      } catch {
        valid = false;
      }
      expect(syntaxError(Buffer.from(text), maxDepth) === undefined).toBe(valid);
    }),
    { numRuns: 2_000 },
  );
});
