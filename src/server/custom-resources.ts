import { hasCondition } from '../api/conditions.js';
import type { Domains } from '../api/domains.js';
import { customResourceDefinitionsIn, isServed } from '../api/kinds/custom-resource-definition.js';
import type { Catalogue } from '../apiserver/catalogue.js';
import type { StoredObjects } from '../apiserver/stored-objects.js';
import { type CustomResourceOptions, customResourcesOf } from '../resources/customresources/definition.js';
import type { Logger } from '../runtime/logger.js';

/** Serves what CustomResourceDefinitions define, from now on and as they change. */
export async function openCustomResources(given: {
  readonly objects: StoredObjects;
  readonly catalogue: Catalogue;
  readonly domains: Domains;
  readonly log: Logger;
}): Promise<void> {
  const options: CustomResourceOptions = { prefixes: given.domains.extensions };
  await given.objects.follow(customResourceDefinitionsIn(given.domains.api), (crds) => {
    given.catalogue.setCustom(
      crds.filter(isServed).flatMap((crd) => {
        try {
          const definitions = customResourcesOf(crd, options);
          return hasCondition(crd, 'Established')
            ? definitions
            : definitions.map((one) => ({ ...one, undiscovered: true }));
        } catch (error) {
          // One definition that cannot be read must not take the others down.
          given.log.error({ err: error, object: crd.metadata.name }, 'custom resource cannot be served');
          return [];
        }
      }),
    );
  });
}
