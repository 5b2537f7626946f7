import { badRequest, methodNotAllowed, noSuchResource, notFound, notSupportedVerb } from '../api/errors.js';
import type { ApiObject } from '../api/object.js';
import { namespaceRequired } from '../registry/keys.js';
import type { ResourceDefinition, Subresource, Verb } from '../registry/resource-definition.js';
import { subresourceOf, verbsOfSubresource } from '../registry/subresource.js';
import type { Served } from './catalogue.js';
import { verbsOf } from './discovery.js';
import type { RequestInfo } from './request.js';

/** The definition and subresource of a resource request, once they are known to exist. */
export interface Target {
  readonly definition: ResourceDefinition;
  readonly subresource: Subresource<ApiObject> | undefined;
}

/**
 * Finds the definition for a URL, and warns if it is deprecated. Built-in and custom groups respond differently to the
 * same mistakes, visibly to clients: `page-not-found` is the plain-text 404 of custom groups.
 */
export function resolveTarget(
  served: Served,
  info: RequestInfo,
  method: string,
  warn: (text: string) => void,
): Target | 'page-not-found' {
  if (isNowhere(info)) return 'page-not-found';
  const definition = served.find(info.group, info.version, info.resource);
  if (definition === undefined) {
    if (!served.isBuiltIn(info.group)) return 'page-not-found';
    throw noSuchResource();
  }
  return definition.origin === 'custom'
    ? locateCustom(definition, info, method, warn)
    : locateBuiltIn(definition, info, method);
}

/** Whether a path can be parsed but begins unlike all paths that are served. */
const isNowhere = ({ path, group }: RequestInfo): boolean =>
  path.startsWith('//') || (group === '' && path.startsWith('/apis/'));

const collectionVerbs: Readonly<Record<string, readonly Verb[]>> = {
  GET: ['list', 'watch'],
  POST: ['create'],
  DELETE: ['deletecollection'],
};
const itemVerbs: Readonly<Record<string, readonly Verb[]>> = {
  GET: ['get', 'watch'],
  PUT: ['update'],
  PATCH: ['patch'],
  DELETE: ['delete'],
};
const allows = (verbs: readonly Verb[], anyOf: readonly Verb[] | undefined): boolean =>
  anyOf?.some((verb) => verbs.includes(verb)) ?? false;

function locateBuiltIn(definition: ResourceDefinition, info: RequestInfo, method: string): Target {
  const allNamespaces = isOfAllNamespaces(definition, info);
  const subresource = info.subresource === '' ? undefined : builtInSubresource(definition, info, method);
  if (subresource !== undefined) return { definition, subresource };
  if (definition.answer !== undefined) {
    if (info.watchedByPath || (info.name !== '' && info.fieldSelector === undefined)) throw noSuchResource();
    if (method !== 'POST') throw methodNotAllowed();
  } else checkVerb(definition, info, method, allNamespaces);
  return { definition, subresource: undefined };
}

/** Whether the path is that of the objects in all namespaces. Throws if there is no such path. */
function isOfAllNamespaces(definition: ResourceDefinition, info: RequestInfo): boolean {
  // The path `/namespaces/<name>` sets both, and is not a namespaced path.
  const namespaced = info.namespaceIsEmpty || (info.namespace !== '' && info.resource !== 'namespaces');
  if (namespaced && !definition.namespaced) throw noSuchResource();
  if (info.hasExtraSegments || info.verb === 'proxy') throw noSuchResource();
  if (!definition.namespaced || namespaced) return false;
  // A list or watch with a field selector takes its name from the selector, unless the path requests the watch.
  if (info.name !== '' && info.fieldSelector === undefined) throw noSuchResource();
  if (info.subresource !== '') throw noSuchResource();
  if (!verbsOf(definition).includes('list')) throw noSuchResource();
  return true;
}

function builtInSubresource(definition: ResourceDefinition, info: RequestInfo, method: string): Subresource<ApiObject> {
  const subresource = subresourceOf(definition, info.subresource);
  if (subresource === undefined || info.verb === 'watch') throw noSuchResource();
  if (!allows(verbsOfSubresource(subresource), method === 'POST' ? ['create'] : itemVerbs[method]))
    throw methodNotAllowed();
  if (info.name === '') throw badRequest('name must be provided');
  return subresource;
}

const verbsWithoutName: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection']);

function checkVerb(definition: ResourceDefinition, info: RequestInfo, method: string, allNamespaces: boolean): void {
  if (info.verb === 'watch' && method !== 'GET') throw methodNotAllowed();
  const isItem = info.name !== '' && (method === 'POST' || !verbsWithoutName.has(info.verb));
  if (!allows(verbsOf(definition), (isItem ? itemVerbs : collectionVerbs)[method])) throw methodNotAllowed();
  if (isItem) return;
  if (allNamespaces && method !== 'GET') throw methodNotAllowed();
  if (info.namespaceIsEmpty && method === 'DELETE') throw namespaceRequired();
}

function locateCustom(
  definition: ResourceDefinition,
  info: RequestInfo,
  method: string,
  warn: (text: string) => void,
): Target | 'page-not-found' {
  const namespaced = info.namespace !== '';
  if (namespaced && !definition.namespaced) return 'page-not-found';
  const reads = info.verb === 'list' || info.verb === 'watch';
  if (definition.namespaced && !namespaced && !reads) return 'page-not-found';
  if (definition.deprecation !== undefined) warn(definition.deprecation);
  if (info.subresource !== '') {
    const subresource = subresourceOf(definition, info.subresource);
    if (subresource === undefined) throw notFound({ ...definition, name: info.name });
    if (
      method === 'OPTIONS' ||
      !allows(verbsOfSubresource(subresource), itemVerbs[method === 'HEAD' ? 'GET' : method])
    ) {
      throw notSupportedVerb(definition, info.verb);
    }
    return { definition, subresource };
  }
  if (info.verb === '' || method === 'OPTIONS') throw notSupportedVerb(definition, '');
  if (info.verb === 'proxy') throw notSupportedVerb(definition, info.verb);
  return { definition, subresource: undefined };
}
