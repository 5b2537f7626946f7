import { expect, test } from 'vitest';
import { ConfigMaps } from '../../../src/api/kinds/config-map.js';
import { createServer } from '../../../src/embed.js';
import { MemoryStore } from '../../../src/store/memory/memory-store.js';
import type { Write } from '../../../src/store/store.js';

/** A store that calls a function when a key is deleted, before the next deletion. */
class InterruptedStore extends MemoryStore {
  whenDeleted: { readonly end: string; readonly act: () => Promise<void> } | undefined;

  override async commit(write: Write): ReturnType<MemoryStore['commit']> {
    const entry = await super.commit(write);
    const { whenDeleted } = this;
    if (write.document !== undefined || !whenDeleted || !write.key.endsWith(whenDeleted.end)) return entry;
    this.whenDeleted = undefined;
    await whenDeleted.act();
    return entry;
  }
}

test('the deletion of a collection spares an object recreated under the name of a listed one', async () => {
  const store = new InterruptedStore();
  const server = await createServer({ store, controllers: [] });
  try {
    const maps = server.client().resource(ConfigMaps);
    const namespace = 'default';
    const make = (name: string) => maps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } });
    for (const name of ['a', 'b', 'c']) await make(name);
    let anew: string | undefined;
    store.whenDeleted = {
      end: '/a',
      act: async () => {
        await maps.delete({ namespace, name: 'b' });
        anew = (await make('b')).metadata.uid;
      },
    };
    await maps.deleteCollection({ namespace });
    expect((await maps.list({ namespace })).items.map(({ metadata }) => metadata.uid)).toEqual([anew]);
  } finally {
    await server.stop();
  }
});
