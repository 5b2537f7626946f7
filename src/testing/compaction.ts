import { randomUUID } from 'node:crypto';
import { document } from '../store/document.js';
import type { Revision, Store } from '../store/store.js';

interface Compactable extends Store {
  compact(revision: Revision): Promise<void>;
}
const isCompactable = (store: Store): store is Compactable =>
  typeof (store as Partial<Compactable>).compact === 'function';

/**
 * Returns a new key that belongs to no kind: groups have a dot or are Kubernetes' own. Several tests may share a store.
 */
const newKey = (): string => `kedge-testing/compaction/${randomUUID()}`;

/**
 * Compacts the history of a store, including the latest revision that any client may know. Fails with an Error if the
 * store has no `compact`.
 */
export async function compactStore(store: Store): Promise<void> {
  if (!isCompactable(store)) throw new Error('the store of this test has no method compact');
  const key = newKey();
  const { revision } = await store.commit({ key, document: document({}), expect: 'absent' });
  const { revision: latest } = await store.commit({ key, document: undefined, expect: revision });
  await store.compact(latest);
}
