import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StoredEntry } from '../../src/store/document.js';
import { endOfPrefix, isKey, sortKey } from '../../src/store/key-order.js';
import type { Entry } from '../../src/store/store.js';
import { VersionedMap } from '../../src/store/versioned-map.js';

const text = fc.string({ unit: 'binary', maxLength: 6 });
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

test('sort keys are in the order of UTF-8 bytes and keep prefixes', () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      const order = sortKey(a) < sortKey(b) ? -1 : Number(sortKey(a) > sortKey(b));
      expect(Math.sign(byBytes(a, b))).toBe(order);
      expect(sortKey(a + b).startsWith(sortKey(a))).toBe(true);
      const end = endOfPrefix(sortKey(a));
      if (end !== undefined) expect(sortKey(a + b) < end).toBe(true);
    }),
  );
});

test('lone surrogates and the empty string are not keys', () => {
  expect(['', '\ud800', 'a\udc00b', '\udc00\ud800'].map(isKey)).toEqual([false, false, false, false]);
  expect(['a', '\u{1f600}', '__proto__', '\uffff'].map(isKey)).toEqual([true, true, true, true]);
});

test('every scan of every remembered revision, in pages of any size, returns what was there then', () => {
  const key = fc.constantFrom('a', 'a/', 'a/b', 'a/c', 'ab', 'b', 'ä', '\uffff', '\u{10ffff}', '\u{1f600}');
  const step = fc.record({ key, deletes: fc.boolean() });
  const ask = fc.record({
    prefix: fc.constantFrom('', 'a', 'a/', 'b', '\uffff', 'x'),
    limit: fc.integer({ min: 1, max: 4 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), ask, fc.nat({ max: 20 }), (steps, { prefix, limit }, forgotten) => {
      const map = new VersionedMap(0n);
      const live = new Map<string, Entry>();
      const views = [new Map(live)];
      for (const { key, deletes } of steps) {
        const previous = live.get(key);
        const entry = new StoredEntry(key, map.history.newest + 1n, Buffer.from('1'), -1);
        if (deletes && previous === undefined) continue;
        map.apply(
          deletes && previous !== undefined ? { type: 'delete', entry, previous } : { type: 'put', entry, previous },
          0,
        );
        if (deletes) live.delete(key);
        else live.set(key, entry);
        views.push(new Map(live));
      }
      map.compact(BigInt(forgotten));
      for (let at = map.history.oldest; at <= map.history.newest; at++) {
        const all = [...(views[Number(at)]?.values() ?? [])];
        const expected = all.filter((entry) => entry.key.startsWith(prefix)).toSorted((a, b) => byBytes(a.key, b.key));
        expect(map.scan(prefix, { at }).entries).toEqual(expected);
        const found: Entry[] = [];
        while (true) {
          const after = found.at(-1)?.key;
          const page = map.scan(prefix, { at, limit, ...(after === undefined ? {} : { after }) });
          found.push(...page.entries);
          expect(page.remaining).toBe(expected.length - found.length);
          if (page.remaining === 0) break;
        }
        expect(found).toEqual(expected);
      }
    }),
    { numRuns: 60 },
  );
});
