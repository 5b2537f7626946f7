import { hasCondition } from '../api/conditions.js';
import type { Domains } from '../api/domains.js';
import {
  type CustomResourceDefinition,
  customResourceDefinitionsIn,
  isServed,
} from '../api/kinds/custom-resource-definition.js';
import type { Catalogue } from '../apiserver/catalogue.js';
import type { StoredObjects } from '../apiserver/stored-objects.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import {
  type CustomResourceOptions,
  customResourcesOf,
  storedResourceOf,
} from '../resources/customresources/definition.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { Metrics } from '../runtime/metrics.js';
import { same } from '../schema/same.js';
import type { Revision } from '../store/store.js';
import { conversionMetrics } from './conversion-metrics.js';
import { conversionWebhook } from './conversion-webhook.js';
import type { Webhooks } from './webhooks.js';

/**
 * Serves custom resources as their CustomResourceDefinitions specify, also when these change. Returns a function that
 * returns the definition of the storage version, whether or not it is served.
 */
export async function openCustomResources(parts: {
  readonly objects: StoredObjects;
  readonly catalogue: Catalogue;
  readonly domains: Domains;
  readonly log: Logger;
  /** The webhooks that convert versions; if absent, only the apiVersion changes. */
  readonly webhooks?: Pick<Webhooks, 'client' | 'services'>;
  readonly clock: Clock;
  readonly metrics?: Metrics | undefined;
}): Promise<(crd: CustomResourceDefinition) => ResourceDefinition> {
  const { webhooks, domains, clock, log } = parts;
  const metrics = parts.metrics && conversionMetrics(parts.metrics);
  const options: CustomResourceOptions = {
    prefixes: domains.extensions,
    ...(webhooks === undefined
      ? {}
      : { remoteConverter: (crd) => conversionWebhook(crd, { ...webhooks, api: domains.api, clock, log, metrics }) }),
  };
  const read = (crd: CustomResourceDefinition, since: Revision): readonly ResourceDefinition[] => {
    try {
      return customResourcesOf(
        crd,
        options,
        hasCondition(crd, 'Established') ? { since } : { since, undiscovered: true },
      );
    } catch (error) {
      // One unreadable definition must not affect the others.
      log.error({ err: error, object: crd.metadata.name }, 'custom resource cannot be served');
      return [];
    }
  };
  // Unchanged definitions stay the same objects, because compiled and encoded forms are cached by them.
  let known: ReadonlyMap<string, KnownDefinition> = new Map();
  await parts.objects.follow(customResourceDefinitionsIn(parts.domains.api), (crds) => {
    known = new Map(
      crds.filter(isServed).map((crd) => {
        const { uid = '', resourceVersion = '0' } = crd.metadata;
        const before = known.get(uid);
        if (before?.crd.metadata.resourceVersion === resourceVersion) return [uid, before];
        const since = before !== undefined && isServedAlike(crd, before.crd) ? before.since : BigInt(resourceVersion);
        return [uid, { crd, since, definitions: read(crd, since) }];
      }),
    );
    parts.catalogue.setCustom([...known.values()].flatMap(({ definitions }) => definitions));
  });
  return (crd) => storedResourceOf(crd, options);
}

interface KnownDefinition {
  readonly crd: CustomResourceDefinition;
  readonly since: Revision;
  readonly definitions: readonly ResourceDefinition[];
}

/** Whether two definitions are equal in what is served. */
const isServedAlike = (a: CustomResourceDefinition, b: CustomResourceDefinition): boolean =>
  same(a.spec, b.spec) && same(a.status?.acceptedNames, b.status?.acceptedNames);
