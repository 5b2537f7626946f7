import type { CustomResourceInstances } from '../../controllers/crd-finalizer/instances.js';
import { AdmissionChain } from '../admission/chain.js';
import type { CustomResourceDefinition } from '../api/kinds/custom-resource-definition.js';
import { type Query, readDeleteParameters, readListParameters } from '../api/options.js';
import type { Parts } from '../apiserver/parts.js';
import { deleteCollection } from '../apiserver/verbs/delete-collection.js';
import { controllerUser } from '../auth/bootstrap/controller-roles.js';
import { storagePrefix } from '../registry/keys.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';

const nothingAsked: Query = { get: () => undefined, all: () => [] };

/**
 * The instances of definitions as they are stored: no webhook that refuses or is gone, and no version that is no longer
 * served, keeps a definition from going.
 */
export function storedInstances(given: {
  readonly parts: Parts;
  readonly definitionOf: (crd: CustomResourceDefinition) => ResourceDefinition;
  readonly signal: AbortSignal;
}): CustomResourceInstances {
  const { definitionOf, signal } = given;
  const parts: Parts = { ...given.parts, admission: new AdmissionChain([]) };
  return {
    async count(crd) {
      const { entries, remaining } = await parts.store.scan(storagePrefix(definitionOf(crd)), { limit: 1 });
      return entries.length + remaining;
    },
    async deleteAll(crd) {
      await deleteCollection(
        parts,
        { definition: definitionOf(crd), namespace: '', signal },
        readListParameters(nothingAsked),
        readDeleteParameters(nothingAsked, undefined),
        {
          user: controllerUser('crd-finalizer'),
          key: {},
          subresource: undefined,
          dryRun: false,
          now: parts.clock.now(),
          warn: () => {},
        },
      );
    },
  };
}
