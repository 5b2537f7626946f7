import { groupResource } from '../api/object.js';
import type { Catalogue } from '../apiserver/catalogue.js';
import { storagePrefix } from '../registry/keys.js';
import type { Measured, Metrics } from '../runtime/metrics.js';
import { TurnTaking } from '../runtime/turn-taking.js';
import { UnreadEntry } from '../store/document.js';
import type { Entry, Store } from '../store/store.js';

/** Reports the size of the store and the number of objects of each kind, counted at each scrape. */
export function measureStore(
  metrics: Metrics,
  store: Store,
  { catalogue, isEncrypted }: { readonly catalogue: Catalogue; readonly isEncrypted: boolean },
): void {
  const { size } = store;
  if (size !== undefined) {
    // A store on this machine has all objects in memory.
    if (isEncrypted) measureEncryption(metrics, store, catalogue);
    metrics.measured(
      {
        name: 'apiserver_storage_size_bytes',
        help: 'Size of the store on disk, in bytes.',
        labels: ['storage_cluster_id'],
      },
      async () => [{ labels: { storage_cluster_id: 'etcd-0' }, value: await size.call(store) }],
    );
  }
  const count = async (): Promise<readonly { readonly group: string; readonly resource: string; value: number }[]> => {
    return Promise.all(
      [...kindsByPrefix(catalogue)].map(async ([prefix, { group, plural }]) => {
        const { entries, remaining } = await store.scan(prefix, { limit: 1, tolerant: true });
        return { group, resource: plural, value: entries.length + remaining };
      }),
    );
  };
  metrics.measured(
    { name: 'apiserver_resource_objects', help: 'Objects in the store, by kind.', labels: ['group', 'resource'] },
    async () => (await count()).map(({ group, resource, value }) => ({ labels: { group, resource }, value })),
  );
  metrics.measured(
    { name: 'apiserver_storage_objects', help: 'Objects in the store, by kind.', labels: ['resource'] },
    async () =>
      (await count()).map(({ group, resource, value }) => ({
        labels: { resource: groupResource({ group, plural: resource }) },
        value,
      })),
  );
}

/** Reports how objects are encrypted, counted at each scrape. */
function measureEncryption(metrics: Metrics, store: Store, catalogue: Catalogue): void {
  const stateOf = (entry: Entry): 'current' | 'stale' | 'unreadable' => {
    if (entry instanceof UnreadEntry && !entry.isReadable()) return 'unreadable';
    return store.isStale?.(entry) === true ? 'stale' : 'current';
  };
  metrics.measured(
    {
      name: 'kedge_encryption_objects',
      help: 'Objects in the store, by whether they are encrypted with the current key.',
      labels: ['group', 'resource', 'state'],
    },
    async () => {
      const turns = new TurnTaking();
      const found: Measured<'group' | 'resource' | 'state'>[] = [];
      for (const [prefix, { group, plural }] of kindsByPrefix(catalogue)) {
        const counts = new Map<string, number>();
        for (const entry of (await store.scan(prefix, { tolerant: true })).entries) {
          if (turns.isDue) await turns.next();
          const state = stateOf(entry);
          counts.set(state, (counts.get(state) ?? 0) + 1);
        }
        for (const [state, value] of counts) found.push({ labels: { group, resource: plural, state }, value });
      }
      return found;
    },
  );
}

/** Returns all stored kinds by their key prefix in the store. */
const kindsByPrefix = (catalogue: Catalogue) =>
  new Map(
    catalogue
      .current()
      .definitions.filter(({ answer }) => answer === undefined)
      .map((definition) => [storagePrefix(definition), definition]),
  );
