import { type Domains, defaultDomains, groupIn } from '../api/domains.js';
import { type ApiObject, groupVersion, isObject, type JsonObject, type ResourceType } from '../api/object.js';
import { withAbort, withAbortFactory } from './abortable-client.js';
import type { Client, Patch, ResourceClient, SubresourceClient } from './client.js';
import { withWarningFactory, withWarnings } from './warnings.js';

/**
 * Returns a client that names kinds by their default groups, for a server that serves them under other domains: renames
 * the groups of types, and the apiVersion of objects that are written.
 */
export function domainClient(domains: Domains, client: Client): Client {
  if (domains.api === defaultDomains.api) return client;
  const inDomain: Client = {
    resource: <T extends ApiObject>(type: ResourceType<T>) => {
      const served = { ...type, group: groupIn(domains, type.group) };
      const resource = client.resource<T>(served);
      return served.group === type.group
        ? { ...resource, subresource: subresourcesOf<T>(resource, domains) }
        : renamed(resource, domains, groupVersion(served));
    },
    discover: (options) => client.discover(options),
  };
  withWarningFactory(inDomain, (onWarning) => domainClient(domains, withWarnings(onWarning, client)));
  return withAbortFactory(inDomain, (signal) => domainClient(domains, withAbort(signal, client)));
}

function renamed<T extends ApiObject>(
  resource: ResourceClient<T>,
  domains: Domains,
  apiVersion: string,
): ResourceClient<T> {
  const inVersion = <O extends object>(object: O): O => ({ ...object, apiVersion });
  return {
    ...resource,
    create: (object, options) => resource.create(inVersion(object), options),
    update: (object, options) => resource.update(inVersion(object), options),
    patch: (key, patch, options) => resource.patch(key, patchIn(patch, inVersion), options),
    subresource: subresourcesOf(resource, domains),
  };
}

/**
 * Returns the function for the subresources of a type. An object sent to a subresource may belong to another group than
 * its parent, as a TokenRequest for a service account does.
 */
const subresourcesOf =
  <T extends ApiObject>(resource: ResourceClient<T>, domains: Domains) =>
  <S extends ApiObject = T>(name: string): SubresourceClient<S> =>
    renamedSubresource(resource.subresource<S>(name), domains);

function renamedSubresource<S extends ApiObject>(
  subresource: SubresourceClient<S>,
  domains: Domains,
): SubresourceClient<S> {
  const inVersion = <O extends { readonly apiVersion?: unknown }>(object: O): O => {
    const [group = '', version] = typeof object.apiVersion === 'string' ? object.apiVersion.split('/') : [];
    return version === undefined ? object : { ...object, apiVersion: `${groupIn(domains, group)}/${version}` };
  };
  return {
    ...subresource,
    create: (key, object, options) => subresource.create(key, inVersion(object), options),
    update: (object, options) => subresource.update(inVersion(object), options),
    patch: (key, patch, options) => subresource.patch(key, patchIn(patch, inVersion), options),
  };
}

/** Returns a patch with its apiVersion renamed: a configuration to apply contains one, as a whole object does. */
const patchIn = (patch: Patch, inVersion: (body: JsonObject) => JsonObject): Patch =>
  patch.type === 'apply' && isObject(patch.body) ? { ...patch, body: inVersion(patch.body) } : patch;
