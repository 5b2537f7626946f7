import { type Domains, defaultDomains, groupIn } from '../api/domains.js';
import type { ApiObject } from '../api/object.js';
import type { ResourceDefinition, Subresource } from './resource-definition.js';

/** Returns a built-in definition with its group in the configured domain; storage and behaviour stay the same. */
export function definitionIn(domains: Domains, definition: ResourceDefinition): ResourceDefinition {
  if (domains.api === defaultDomains.api) return definition;
  const { group, subresources } = definition;
  const served = groupIn(domains, group);
  return {
    ...definition,
    ...(served === group ? {} : { group: served, homeGroup: group }),
    ...(subresources === undefined ? {} : { subresources: subresourcesIn(domains, subresources) }),
  };
}

const subresourcesIn = (
  domains: Domains,
  subresources: Readonly<Record<string, Subresource<ApiObject>>>,
): Readonly<Record<string, Subresource<ApiObject>>> =>
  Object.fromEntries(
    Object.entries(subresources).map(([name, subresource]) => [
      name,
      subresource.type === 'action'
        ? { ...subresource, request: { ...subresource.request, group: groupIn(domains, subresource.request.group) } }
        : subresource,
    ]),
  );
