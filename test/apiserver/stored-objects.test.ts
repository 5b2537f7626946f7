import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { StoredObjects } from '../../src/apiserver/stored-objects.js';
import { storageKey } from '../../src/registry/keys.js';
import { document } from '../../src/store/document.js';
import { MemoryStore } from '../../src/store/memory/memory-store.js';

test('a list is that of the latest write, in order; one handed out does not change', async () => {
  const change = fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), isPut: fc.boolean(), isAsked: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 20 }), async (changes) => {
      const store = new MemoryStore();
      const objects = new StoredObjects(store);
      const there = new Map<string, number>();
      const texts = async () => (await objects.list(ConfigMaps)).map(({ data }) => data?.['at']);
      let handedOut = await objects.list(ConfigMaps);
      let copy = [...handedOut];
      for (const [at, { name, isPut, isAsked }] of changes.entries()) {
        const key = storageKey(ConfigMaps, { namespace: 'ns', name });
        const expected = (await store.get(key))?.revision ?? ('absent' as const);
        if (isPut) {
          await store.commit({ key, document: document({ data: { at: `${name}${at}` } }), expect: expected });
          there.set(name, at);
        } else if (expected !== 'absent') {
          await store.commit({ key, document: undefined, expect: expected });
          there.delete(name);
        }
        expect(handedOut).toEqual(copy);
        if (!isAsked) continue;
        expect(await texts()).toEqual([...there].sort().map(([known, when]) => `${known}${when}`));
        handedOut = await objects.list(ConfigMaps);
        copy = [...handedOut];
        expect(await objects.list(ConfigMaps)).toBe(handedOut);
      }
      await store.close();
    }),
  );
});
