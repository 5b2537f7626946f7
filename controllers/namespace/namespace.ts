import { isReason } from '../../src/api/errors.js';
import { type Namespace, Namespaces, namespaceFinalizer } from '../../src/api/kinds/namespace.js';
import { timestamp } from '../../src/api/time.js';
import type { Client } from '../../src/client/client.js';
import type { Runnable } from '../../src/controller/controller.js';
import { defineController } from '../../src/controller/define-controller.js';
import { deletionPollMs } from '../../src/controller/deletion-poll.js';
import { fieldManagers } from '../../src/controller/field-manager.js';
import { writeStatus } from '../../src/controller/write-status.js';
import { BoundedMap } from '../../src/runtime/bounded-map.js';
import { deletionConditions, isEmpty } from './conditions.js';
import { emptyNamespace } from './empty-namespace.js';

const options = { fieldManager: fieldManagers.controllers };

/**
 * How long the controller waits before it empties a namespace, in milliseconds, if several servers share a store:
 * another server may not have seen the deletion yet, and be about to create an object in it. kube-controller-manager
 * waits equally long.
 */
export const sharedSettleMs = 5_000;

/**
 * The maximum number of namespaces whose time is remembered; if more are deleted at once, the wait of some starts
 * again.
 */
const mostAtOnce = 10_000;

/**
 * Empties terminating namespaces, reports the progress in conditions, and removes the finalizer once nothing is left.
 * `settleMs` is the delay after the deletion was first seen.
 */
export const namespaceController = ({ settleMs = 0 }: { readonly settleMs?: number } = {}): Runnable => {
  /** The time when each deletion was first seen, by this process' clock: that of the deleting client may differ. */
  const firstSeen = new BoundedMap<string, number>(mostAtOnce);
  return defineController<Namespace>({
    name: 'namespace',
    for: Namespaces,
    concurrency: 5,
    // Whichever finalizers the namespace has: its contents must not outlast it.
    when: ({ metadata, spec }) => metadata.deletionTimestamp !== undefined && (spec?.finalizers ?? []).length > 0,

    async reconcile(namespace, { client, clock }) {
      const { uid = '' } = namespace.metadata;
      if (settleMs > 0) {
        const since = firstSeen.get(uid) ?? clock.monotonic();
        firstSeen.set(uid, since);
        const leftMs = since + settleMs - clock.monotonic();
        if (leftMs > 0) return { requeueAfterMs: leftMs };
      }
      const emptying = await emptyNamespace(client, namespace.metadata.name ?? '');
      const conditions = deletionConditions(namespace.status?.conditions, emptying, timestamp(clock.now()));
      const status = { ...namespace.status, phase: 'Terminating', conditions };
      const current = await writeStatus(client.resource(Namespaces), namespace, status, options);
      if (isEmpty(emptying)) {
        firstSeen.delete(uid);
        return release(client, current);
      }
      const waitedMs = clock.now() - Date.parse(namespace.metadata.deletionTimestamp ?? '');
      return { requeueAfterMs: deletionPollMs(waitedMs) };
    },
  });
};

/** Removes the finalizer. The others are left in order, each once, as kube-controller-manager leaves them. */
async function release(client: Client, current: Namespace): Promise<void> {
  const existing = current.spec?.finalizers ?? [];
  const others = existing.filter((finalizer) => finalizer !== namespaceFinalizer);
  const finalizers = [...new Set(others)].sort();
  if (finalizers.length === existing.length && finalizers.every((finalizer, at) => finalizer === existing[at])) return;
  try {
    await client
      .resource(Namespaces)
      .subresource('finalize')
      .update({ ...current, spec: { ...current.spec, finalizers } }, options);
  } catch (error) {
    if (!isReason(error, 'NotFound')) throw error;
  }
}
