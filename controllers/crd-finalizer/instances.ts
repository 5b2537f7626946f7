import { hasCondition } from '../../src/api/conditions.js';
import { isReason } from '../../src/api/errors.js';
import {
  type CustomResourceDefinition,
  servedVersions,
  storageVersion,
} from '../../src/api/kinds/custom-resource-definition.js';
import { type ApiObject, type ResourceType, resourceType } from '../../src/api/object.js';
import type { Client } from '../../src/client/client.js';
import { eachListed } from '../../src/client/each-listed.js';

/**
 * Access to the instances of a definition. The server accesses them without admission and discovery; others use a
 * client.
 */
export interface CustomResourceInstances {
  /** Returns the number of instances. */
  count(crd: CustomResourceDefinition): Promise<number>;
  /** Requests the deletion of all instances; some may have finalizers. */
  deleteAll(crd: CustomResourceDefinition): Promise<void>;
}

/** Returns access through the API, with the permissions of the client. */
export const clientInstances = (client: Client): CustomResourceInstances => ({
  async count(crd) {
    try {
      const { items, metadata } = await client.resource(typeOf(crd)).list({ limit: 1, metadataOnly: true });
      return items.length + (metadata.remainingItemCount ?? 0);
    } catch (error) {
      // A definition that was never established may not be served, and then has no instances that could be accessed.
      if (!hasCondition(crd, 'Established') && isReason(error, 'NotFound')) return 0;
      throw error;
    }
  },
  async deleteAll(crd) {
    const type = typeOf(crd);
    const resource = client.resource(type);
    if (!type.namespaced) return resource.deleteCollection();
    for (const namespace of await namespacesOf(client, type)) await resource.deleteCollection({ namespace });
  },
});

async function namespacesOf(client: Client, type: ResourceType): Promise<ReadonlySet<string>> {
  const namespaces = new Set<string>();
  for await (const { metadata } of eachListed(client.resource(type), { metadataOnly: true }))
    if (metadata.namespace !== undefined) namespaces.add(metadata.namespace);
  return namespaces;
}

/** Returns the stored version if it is served, else the best one that is. */
function typeOf(crd: CustomResourceDefinition): ResourceType<ApiObject> {
  const { spec, status } = crd;
  const stored = storageVersion(crd);
  const version = stored?.served ? stored.name : servedVersions(crd)[0];
  if (version === undefined) throw new Error('no version is served');
  const names = status?.acceptedNames ?? spec.names;
  return resourceType<ApiObject>({
    group: spec.group,
    version,
    plural: names.plural,
    kind: names.kind,
    namespaced: spec.scope === 'Namespaced',
  });
}
