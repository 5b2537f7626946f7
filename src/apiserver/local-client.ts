import { type ApiObject, groupResource, type JsonObject, type ObjectKey, type ResourceType } from '../api/object.js';
import { oncePer } from '../api/once.js';
import { requestKey } from '../api/request-keys.js';
import { statusTexts } from '../api/status-texts.js';
import type {
  Client,
  ClientOptions,
  DeleteOptions,
  DiscoveredResource,
  Patch,
  ResourceClient,
  SubresourceClient,
  WriteOptions,
} from '../client/client.js';
import { ignoreNotFound } from '../client/ignore-not-found.js';
import { deleteOptionsBody, listQuery, patchRequest, watchQuery, writeQuery } from '../client/request-options.js';
import { withWarningFactory } from '../client/warnings.js';
import type { Catalogue, ServedGroup } from './catalogue.js';
import { verbsOf } from './discovery.js';
import { failOnStatus, listOf, objectOf, watchOf } from './local-answer.js';
import { type LocalCall, type LocalCaller, requestOf } from './local-request.js';
import type { ApiRequest, ApiResponse, Result } from './request.js';

/**
 * Returns a client for code in the process of the server. Calls go through the same pipeline as over HTTP, without a
 * connection and with an identity that this process vouches for; authorization and admission apply as to other callers.
 * A body is sent as the JSON of the given value at the time of the call, because values in code can differ from JSON
 * and may change later.
 */
export function localClient(parts: LocalClientParts): Client {
  const { onWarning } = parts;
  const call = async (request: LocalCall): Promise<Result> => {
    const { result, warnings } = await parts.handle(requestOf(request, parts));
    if (onWarning !== undefined) for (const text of warnings) onWarning(text);
    return result.type === 'text' && result.code === 404 ? { ...result, text: notServed(request) } : result;
  };
  const client: Client = {
    resource: <T extends ApiObject>(type: ResourceType<T>) => resourceClient<T>(call, type),
    discover: async () => discovered(parts.catalogue),
  };
  return onWarning === undefined
    ? withWarningFactory(client, (tell) => localClient({ ...parts, onWarning: tell }))
    : client;
}

/**
 * Returns the text of a 404 for a resource that is not served, in the words of client-go. The response of the server
 * itself names no resource, as for any other unknown path, but the client knows which resource it requested.
 */
const notServed = ({ method, type }: LocalCall): string =>
  `${statusTexts[404]} (${method.toLowerCase()} ${groupResource(type)})`;

interface LocalClientParts extends ClientOptions, LocalCaller {
  handle(request: ApiRequest): Promise<ApiResponse>;
  readonly catalogue: Catalogue;
}

const discovered = (catalogue: Catalogue): readonly DiscoveredResource[] =>
  catalogue.current().groups.flatMap(discoveredIn);

/**
 * Returns the discovered resources of a group, cached with the group because controllers run discovery whenever another
 * group has changed.
 */
const discoveredIn = oncePer((of: ServedGroup): readonly DiscoveredResource[] =>
  of.versions.flatMap(({ definitions }, at) =>
    definitions.map((definition) => {
      const { group, version, plural, singular, kind, listKind, namespaced, shortNames, categories } = definition;
      return {
        ...{ group, version, plural, singular, kind, listKind, namespaced },
        ...(shortNames === undefined ? {} : { shortNames }),
        ...(categories === undefined ? {} : { categories }),
        verbs: verbsOf(definition),
        preferred: at === 0,
      };
    }),
  ),
);

type Call = (parts: LocalCall) => Promise<Result>;

function resourceClient<T extends ApiObject>(call: Call, type: ResourceType<T>): ResourceClient<T> {
  return {
    ...objectClient<T>(call, type),
    list: async (options = {}) =>
      listOf<T>(
        await call({ verb: 'list', method: 'GET', type, namespace: options.namespace, query: listQuery(options) }),
        options,
      ),
    watch: (options = {}) =>
      watchOf<T>(
        () => call({ verb: 'watch', method: 'GET', type, namespace: options.namespace, query: watchQuery(options) }),
        options,
      ),
    create: async (object, options) =>
      objectOf<T>(
        await call({
          verb: 'create',
          method: 'POST',
          type,
          namespace: object.metadata.namespace,
          query: writeQuery(options),
          body: object,
        }),
      ),
    delete: async (key, options = {}) => {
      const body = deleteBody(options);
      failOnStatus(await call({ verb: 'delete', method: 'DELETE', type, ...placeOf(key), body }));
    },
    deleteCollection: async (options = {}) => {
      failOnStatus(
        await call({
          verb: 'deletecollection',
          method: 'DELETE',
          type,
          namespace: options.namespace,
          query: listQuery(options),
          body: deleteBody(options),
        }),
      );
    },
    subresource: <S extends ApiObject = T>(subresource: string) => subresourceClient<S>(call, type, subresource),
  };
}

const subresourceClient = <S extends ApiObject>(
  call: Call,
  type: ResourceType,
  subresource: string,
): SubresourceClient<S> => ({
  ...objectClient<S>(call, type, subresource),
  create: async (key, body, options) =>
    objectOf<S>(
      await call({
        verb: 'create',
        method: 'POST',
        type,
        ...placeOf(key),
        subresource,
        query: writeQuery(options),
        body,
      }),
    ),
});

/** The methods that objects and subresources have in common. */
function objectClient<T extends ApiObject>(
  call: Call,
  type: ResourceType,
  subresource?: string,
): Pick<SubresourceClient<T>, 'get' | 'update' | 'patch'> {
  const at = (key: ObjectKey) => ({ type, ...placeOf(key), subresource });
  return {
    get: (key) =>
      ignoreNotFound(call({ verb: 'get', method: 'GET', ...at(key) }).then((result) => objectOf<T>(result))),
    update: async (body, options) =>
      objectOf<T>(
        await call({ verb: 'update', method: 'PUT', ...at(requestKey(body)), query: writeQuery(options), body }),
      ),
    patch: async (key, patch, options) => objectOf<T>(await call(patchCall(at(key), patch, options))),
  };
}

/** Returns namespace and name of a key. Programs without static types may omit the name. */
const placeOf = ({ namespace, name }: ObjectKey) => ({ namespace, name: name ?? '' });

const patchCall = (
  at: Pick<LocalCall, 'type' | 'namespace' | 'name'>,
  patch: Patch,
  options: WriteOptions | undefined,
): LocalCall => ({ verb: 'patch', method: 'PATCH', ...at, ...patchRequest(patch, writeQuery(options)) });

const deleteBody = (options: DeleteOptions): JsonObject | undefined => {
  const body = deleteOptionsBody(options);
  return Object.keys(body).length ? body : undefined;
};
