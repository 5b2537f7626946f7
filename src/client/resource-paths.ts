import { checkPlace } from '../api/looked-up.js';
import type { ObjectKey, ResourceType } from '../api/object.js';
import type { QueryParameters } from './request-options.js';

/** Where resources are on a server. */

/** Path of a collection that is read, of all namespaces if none is given. Fails with BadRequest if the namespace can be none. */
export function readPath(type: ResourceType, namespace: string | undefined): string {
  checkPlace({ namespace, isInOne: false });
  return collectionPath(type, namespace);
}

/** Path of a collection that is written to. Fails with BadRequest also if it has to be in a namespace and none is given. */
export function writePath(type: ResourceType, namespace: string | undefined): string {
  checkPlace({ namespace, isInOne: type.namespaced });
  return collectionPath(type, namespace);
}

function collectionPath(type: ResourceType, namespace: string | undefined): string {
  return pathOf([
    ...(type.group === '' ? ['api', type.version] : ['apis', type.group, type.version]),
    ...(namespace ? ['namespaces', namespace] : []),
    type.plural,
  ]);
}

/** Path of an object or a subresource. Fails with BadRequest if nothing can be there: no server is to guess what was meant. */
export function objectPath(type: ResourceType, { namespace, name }: ObjectKey, subresource?: string): string {
  // Programs without types leave the name out.
  checkPlace({ namespace, isInOne: type.namespaced, name: name ?? '', subresource });
  return collectionPath(type, namespace) + pathOf(subresource === undefined ? [name] : [name, subresource]);
}

const pathOf = (segments: readonly string[]): string => `/${segments.map(encodeURIComponent).join('/')}`;

export function withQuery(path: string, query: QueryParameters): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? path : `${path}?${search}`;
}
