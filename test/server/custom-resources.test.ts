import { expect, test } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import type { JsonObject } from '../../src/api/object.js';
import { Catalogue } from '../../src/apiserver/catalogue.js';
import { encodeDocument } from '../../src/apiserver/entry-codec.js';
import { StoredObjects } from '../../src/apiserver/stored-objects.js';
import { storageKey } from '../../src/registry/keys.js';
import type { ResourceDefinition } from '../../src/registry/resource-definition.js';
import { customResourceDefinitions } from '../../src/resources/customresourcedefinitions/definition.js';
import { systemClock } from '../../src/runtime/clock.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { openCustomResources } from '../../src/server/custom-resources.js';
import { MemoryStore } from '../../src/store/memory/memory-store.js';
import { settled } from '../../src/testing/fake-clock.js';

const crds = customResourceDefinitions({ domains: defaultDomains }) as object as ResourceDefinition;
const names = (plural: string): JsonObject => ({ plural, singular: plural, kind: plural, listKind: `${plural}List` });
const crd = (plural: string, established: 'True' | 'False', type = 'object'): JsonObject => ({
  metadata: { name: `${plural}.example.com`, uid: plural },
  spec: {
    group: 'example.com',
    names: names(plural),
    scope: 'Cluster',
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type } } }],
  },
  status: {
    acceptedNames: names(plural),
    storedVersions: ['v1'],
    conditions: ['NamesAccepted', 'Established'].map((type) => ({
      type,
      status: type === 'Established' ? established : 'True',
    })),
  },
});

test('a definition is unaffected by changes of others, and counts as changed only when its own schema is', async () => {
  const store = new MemoryStore();
  const put = async (plural: string, established: 'True' | 'False', type?: string): Promise<void> => {
    const key = storageKey(crds, { name: `${plural}.example.com` });
    const expected = (await store.get(key))?.revision ?? 'absent';
    const document = await encodeDocument(crds, crd(plural, established, type) as never);
    await store.commit({ key, document, expect: expected });
    await settled();
  };
  await put('as', 'True');
  const catalogue = new Catalogue([]);
  await openCustomResources({
    objects: new StoredObjects(store),
    catalogue,
    domains: defaultDomains,
    clock: systemClock,
    log: silentLogger,
  });
  const of = (plural: string): ResourceDefinition | undefined => catalogue.current().find('example.com', 'v1', plural);
  const first = of('as');
  expect(first?.plural).toBe('as');
  await put('bs', 'False');
  expect([of('as') === first, of('bs')?.undiscovered]).toEqual([true, true]);
  await put('bs', 'True');
  expect([of('as') === first, of('bs')?.undiscovered]).toEqual([true, undefined]);
  await put('as', 'True');
  expect([of('as') === first, of('as')?.plural]).toEqual([false, 'as']);
  expect(of('as')?.since).toBe(first?.since);
  await put('as', 'True', 'string');
  expect(of('as')?.since).toBe(await store.revision());
  const entry = await store.get(storageKey(crds, { name: 'bs.example.com' }));
  await store.commit({ key: entry?.key ?? '', document: undefined, expect: entry?.revision ?? 0n });
  await settled();
  expect(of('bs')).toBeUndefined();
  await store.close();
});
