import fc from 'fast-check';
import { expect, test } from 'vitest';
import { goJson } from '../../src/api/go-text.js';
import type { Json } from '../../src/api/object.js';
import { atOnce } from '../../src/api/steps.js';
import { document, StoredEntry } from '../../src/store/document.js';

const entryOf = (value: Json): StoredEntry => new StoredEntry('/k', 1n, document(value).bytes, -1);
const name = fc.oneof(fc.constantFrom('metadata', '__proto__', 'é"\\\n'), fc.string({ maxLength: 4 }));

test('an entry reads the same at once, in steps and member by member', () => {
  const values = fc.dictionary(name, fc.jsonValue() as fc.Arbitrary<Json>, { maxKeys: 5 });
  fc.assert(
    fc.property(values, fc.boolean(), name, (small, isLarge, other) => {
      const value: Json = isLarge ? { ...small, large: 'x'.repeat(70_000), more: 12345678901234567890n } : small;
      const expected = entryOf(value).value as { readonly [member: string]: Json };
      const steps = [...entryOf(value).read()];
      if (isLarge) expect(steps.length).toBeGreaterThan(0);
      const inSteps = entryOf(value);
      expect(atOnce(inSteps.read())).toEqual(expected);
      expect(inSteps.value).toEqual(expected);
      for (const one of [...Object.keys(expected), other]) {
        const wanted = Object.hasOwn(expected, one) ? expected[one] : undefined;
        if (goJson(one) === `"${one}"`) expect(atOnce(entryOf(value).member(one))).toEqual(wanted);
        expect(atOnce(inSteps.member(one))).toEqual(wanted);
      }
    }),
  );
});

test.each<Json>([null, 1, 'x'.repeat(70_000), [1, 'x'.repeat(70_000)]])('what is no object is read whole', (value) => {
  expect(atOnce(entryOf(value).read())).toEqual(value);
  expect(atOnce(entryOf(value).member('a'))).toBeUndefined();
});
