import { groupResource } from '../api/object.js';
import type { DiscoveredResource } from './client.js';

/**
 * Returns each resource in the preferred version of its group, if it has all of these verbs there; without
 * subresources.
 */
export function preferredResources(
  discovered: readonly DiscoveredResource[],
  verbs: readonly string[],
): readonly DiscoveredResource[] {
  const found = new Map<string, DiscoveredResource>();
  for (const resource of discovered) {
    const id = groupResource(resource);
    const isWanted = verbs.every((verb) => resource.verbs.includes(verb)) && !resource.plural.includes('/');
    if (isWanted && !found.has(id)) found.set(id, resource);
  }
  return [...found.values()];
}
