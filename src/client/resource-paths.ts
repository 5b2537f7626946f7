import type { ObjectKey, ResourceType } from '../api/object.js';
import { checkRequestPath } from '../api/request-keys.js';
import type { QueryParameters } from './request-options.js';

/** URL paths of resources. */

/** Returns the path for reading a collection, of all namespaces if none is given. Throws BadRequest for an invalid namespace. */
export function readPath(type: ResourceType, namespace: string | undefined): string {
  checkRequestPath({ namespace, isInOne: false });
  return collectionPath(type, namespace);
}

/** Returns the path for writing to a collection. Throws BadRequest for an invalid namespace, or if a required one is missing. */
export function writePath(type: ResourceType, namespace: string | undefined): string {
  checkRequestPath({ namespace, isInOne: type.namespaced });
  return collectionPath(type, namespace);
}

function collectionPath(type: ResourceType, namespace: string | undefined): string {
  return pathOf([
    ...(type.group === '' ? ['api', type.version] : ['apis', type.group, type.version]),
    ...(namespace ? ['namespaces', namespace] : []),
    type.plural,
  ]);
}

/** Returns the path of an object or a subresource. Throws BadRequest for an invalid key, instead of sending it. */
export function objectPath(type: ResourceType, { namespace, name }: ObjectKey, subresource?: string): string {
  // Programs in plain JavaScript may omit the name.
  checkRequestPath({ namespace, isInOne: type.namespaced, name: name ?? '', subresource });
  return collectionPath(type, namespace) + pathOf(subresource === undefined ? [name] : [name, subresource]);
}

const pathOf = (segments: readonly string[]): string => `/${segments.map(encodeURIComponent).join('/')}`;

export function withQuery(path: string, query: QueryParameters): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? path : `${path}?${search}`;
}
