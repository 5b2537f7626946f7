import type { CustomResourceInstances } from '../../controllers/crd-finalizer/instances.js';
import { AdmissionChain } from '../admission/chain.js';
import type { CustomResourceDefinition } from '../api/kinds/custom-resource-definition.js';
import { type Query, readDeleteParameters, readListParameters } from '../api/options.js';
import type { Parts } from '../apiserver/parts.js';
import { deleteCollection } from '../apiserver/verbs/delete-collection.js';
import { controllerUser } from '../auth/bootstrap/controller-roles.js';
import { relativeKey, storagePrefix } from '../registry/keys.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import { type Store, WriteConflict } from '../store/store.js';

const nothingAsked: Query = { get: () => undefined, all: () => [] };

/**
 * Returns access to the stored instances of definitions that depends neither on conversion webhooks nor on served
 * versions, so that none of these prevents the deletion of a definition.
 */
export function storedInstances(options: {
  readonly parts: Parts;
  readonly definitionOf: (crd: CustomResourceDefinition) => ResourceDefinition;
  readonly signal: AbortSignal;
}): CustomResourceInstances {
  const { definitionOf, signal } = options;
  const parts: Parts = { ...options.parts, admission: new AdmissionChain([]) };
  return {
    async count(crd) {
      const { entries, remaining } = await parts.store.scan(storagePrefix(definitionOf(crd)), { limit: 1 });
      return entries.length + remaining;
    },
    async deleteAll(crd) {
      const definition = definitionOf(crd);
      await deleteCollection(
        parts,
        { definition, namespace: '', signal },
        readListParameters(nothingAsked),
        readDeleteParameters(nothingAsked, undefined),
        {
          user: controllerUser('crd-finalizer'),
          key: {},
          subresource: undefined,
          now: parts.clock.now(),
          warn: () => {},
        },
      );
      await dropUnreachable(parts.store, definition);
    },
  };
}

/**
 * Deletes instances that an earlier definition with another scope has left behind. They have no path any more, so that
 * no client could release them.
 */
async function dropUnreachable(store: Store, definition: ResourceDefinition): Promise<void> {
  const { entries } = await store.scan(storagePrefix(definition));
  for (const { key, revision } of entries) {
    if (relativeKey(definition, key).includes('/') === definition.namespaced) continue;
    try {
      await store.commit({ key, document: undefined, expect: revision });
    } catch (error) {
      if (!(error instanceof WriteConflict)) throw error;
    }
  }
}
