import fc from 'fast-check';
import { expect, test } from 'vitest';
import { goJson } from '../../src/api/go-text.js';
import type { Json } from '../../src/api/object.js';
import { runSync } from '../../src/api/steps.js';
import { document, StoredEntry, sizeOf, UnreadEntry } from '../../src/store/document.js';

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
      expect(runSync(inSteps.read())).toEqual(expected);
      expect(inSteps.value).toEqual(expected);
      for (const one of [...Object.keys(expected), other]) {
        const wanted = Object.hasOwn(expected, one) ? expected[one] : undefined;
        if (goJson(one) === `"${one}"`) expect(runSync(entryOf(value).member(one))).toEqual(wanted);
        expect(runSync(inSteps.member(one))).toEqual(wanted);
      }
    }),
  );
});

test.each<Json>([null, 1, 'x'.repeat(70_000), [1, 'x'.repeat(70_000)]])(
  'a value that is not an object is read whole',
  (value) => {
    expect(runSync(entryOf(value).read())).toEqual(value);
    expect(runSync(entryOf(value).member('a'))).toBeUndefined();
  },
);

test('an entry drops its encrypted bytes once it is read, and keeps its accounted size', () => {
  const about = { key: 'a/b/c', revision: 7n, revisionAt: -1, kept: Buffer.from('encrypted') };
  let isReadable = false;
  const entry = new UnreadEntry(about, () => {
    if (!isReadable) throw new Error('no key');
    return new StoredEntry('a/b/c', 7n, Buffer.from('{}'), -1, 'by one');
  });
  expect(() => entry.value).toThrow('no key');
  expect([entry.kept.toString(), sizeOf(entry)]).toEqual(['encrypted', 9]);
  const deleted = entry.at(8n);
  isReadable = true;
  expect([entry.value, entry.keptAs]).toEqual([{}, 'by one']);
  expect([entry.kept.length, sizeOf(entry)]).toEqual([0, 9]);
  for (const one of [deleted, entry.at(8n)]) expect([one.value, one.revision, one.keptAs]).toEqual([{}, 8n, 'by one']);
});
