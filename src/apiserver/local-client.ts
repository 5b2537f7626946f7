import { ApiError, type Status } from '../api/errors.js';
import { goJson } from '../api/go-text.js';
import { checkPlace, keyOfGiven } from '../api/looked-up.js';
import {
  type ApiObject,
  groupResource,
  groupVersion,
  type Json,
  type JsonObject,
  type List,
  type ObjectKey,
  type ResourceType,
} from '../api/object.js';
import { type Query, selectedName } from '../api/options.js';
import { ownCopy, ownCopyInSteps } from '../api/own-copy.js';
import { statusTexts } from '../api/status-texts.js';
import { atOnce, type Steps } from '../api/steps.js';
import type { UserInfo } from '../api/user.js';
import type {
  Client,
  ClientOptions,
  DeleteOptions,
  DiscoveredResource,
  ListOptions,
  Patch,
  ResourceClient,
  SubresourceClient,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from '../client/client.js';
import { orUndefined } from '../client/or-undefined.js';
import { tellingBy } from '../client/warnings.js';
import {
  deletionOf,
  listQuery,
  patchRequest,
  type WrittenQuery,
  watchQuery,
  writeQuery,
} from '../client/written-options.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import { Observable } from '../runtime/observable.js';
import { inTurns, TurnTaking } from '../runtime/turn-taking.js';
import type { Entry } from '../store/store.js';
import type { Catalogue, ServedGroup } from './catalogue.js';
import { verbsOf } from './discovery.js';
import { isLarge, readMetadata, readStored } from './forms.js';
import { LaterReader } from './later-reader.js';
import { listMeta } from './list-text.js';
import type { ApiRequest, ApiResponse, RequestInfo, Result, WatchItem } from './request.js';

/**
 * The API for code in the server's own process: the same pipeline as over HTTP, with an identity this process
 * vouches for, and without a connection in between. Authorization and admission apply as to anybody. A body is the JSON
 * of what was given, as it was when the call was made: code has values that JSON has not, and may go on changing them.
 */
export function localClient(given: LocalClientParts): Client {
  const { onWarning } = given;
  const call = async (request: CallParts): Promise<Result> => {
    const { result, warnings } = await given.handle(requestOf(request, given));
    if (onWarning !== undefined) for (const text of warnings) onWarning(text);
    return result.type === 'text' && result.code === 404 ? { ...result, text: notServed(request) } : result;
  };
  const client: Client = {
    resource: <T extends ApiObject>(type: ResourceType<T>) => resourceClient<T>(call, type),
    discover: async () => discovered(given.catalogue),
  };
  return onWarning === undefined ? tellingBy(client, (tell) => localClient({ ...given, onWarning: tell })) : client;
}

/** Of what nobody serves the server says as little as of any other path; who asked knows what for. As client-go words it. */
const notServed = ({ method, type }: CallParts): string =>
  `${statusTexts[404]} (${method.toLowerCase()} ${groupResource(type)})`;

interface LocalClientParts extends ClientOptions {
  readonly user: UserInfo;
  handle(request: ApiRequest): Promise<ApiResponse>;
  readonly catalogue: Catalogue;
  /** Recorded as field manager where none is given. */
  readonly agent: string;
  readonly signal: AbortSignal;
}

const discovered = (catalogue: Catalogue): readonly DiscoveredResource[] =>
  catalogue.current().groups.flatMap(discoveredIn);

/** Kept with the group, because controllers ask whenever another one changed. */
const discoveries = new WeakMap<ServedGroup, readonly DiscoveredResource[]>();

function discoveredIn(of: ServedGroup): readonly DiscoveredResource[] {
  const known = discoveries.get(of);
  if (known !== undefined) return known;
  const found = of.versions.flatMap(({ definitions }, at) =>
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
  );
  discoveries.set(of, found);
  return found;
}

interface CallParts {
  readonly verb: string;
  readonly method: string;
  readonly type: ResourceType;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
  readonly query?: WrittenQuery;
  readonly body?: unknown;
  readonly contentType?: string | undefined;
}
type Call = (parts: CallParts) => Promise<Result>;

function requestOf(parts: CallParts, { user, agent, signal, fieldValidation }: LocalClientParts): ApiRequest {
  const isRead = parts.verb === 'list' || parts.verb === 'watch';
  checkPlace({ ...parts, isInOne: parts.type.namespaced && !isRead });
  const { verb, method, type, namespace = '', name = '', subresource = '', query = {}, body, contentType } = parts;
  const isOfNamespaces = type.group === '' && type.plural === 'namespaces';
  const path = `/${type.group === '' ? 'api' : `apis/${type.group}`}/${type.version}/${namespace ? `namespaces/${namespace}/` : ''}${type.plural}${name && `/${name}`}${subresource && `/${subresource}`}`;
  const given = (key: string): string | undefined => {
    const own = Object.hasOwn(query, key) ? query[key] : undefined;
    const value = own ?? (key === 'fieldValidation' ? fieldValidation : undefined);
    return value === undefined ? undefined : String(value);
  };
  const fieldSelector = given('fieldSelector');
  const labelSelector = given('labelSelector');
  const asQuery: Query = {
    get: given,
    all: (key) => {
      const value = given(key);
      return value === undefined ? [] : [value];
    },
  };
  const info: RequestInfo = {
    isResource: true,
    path,
    verb,
    group: type.group,
    version: type.version,
    resource: type.plural,
    subresource,
    // As in a URL, a namespace is in itself, and there is none in another.
    namespace: namespace || (isOfNamespaces ? name : ''),
    name: name || (isRead ? selectedName(asQuery) : ''),
    trailing: isOfNamespaces && Boolean(namespace),
    namespaceIsEmpty: false,
    watchedByPath: false,
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
  };
  const headers: Readonly<Record<string, string | undefined>> = { 'user-agent': agent, 'content-type': contentType };
  const bytes = Buffer.from(body === undefined ? '' : goJson(body));
  return {
    info,
    method,
    query: asQuery,
    uri: path,
    header: (key) => headers[key],
    caller: { user },
    body: async () => ({ bytes, contentType, isOwn: true }),
    signal,
  };
}

function resourceClient<T extends ApiObject>(call: Call, type: ResourceType<T>): ResourceClient<T> {
  const at = (key: ObjectKey) => ({ type, ...placeOf(key) });
  return {
    get: (key) => orUndefined(call({ verb: 'get', method: 'GET', ...at(key) }).then((result) => objectOf<T>(result))),
    list: async (options = {}) =>
      listOf<T>(
        await call({ verb: 'list', method: 'GET', type, namespace: options.namespace, query: listQuery(options) }),
        options,
      ),
    watch: (options = {}) => watch<T>(call, type, options),
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
    update: async (object, options) =>
      objectOf<T>(
        await call({
          verb: 'update',
          method: 'PUT',
          ...at(keyOfGiven(object)),
          query: writeQuery(options),
          body: object,
        }),
      ),
    patch: async (key, patch, options) => objectOf<T>(await call(patchCall(at(key), patch, options))),
    delete: async (key, options = {}) => {
      await call({ verb: 'delete', method: 'DELETE', ...at(key), body: deleteBody(options) }).then(failOnStatus);
    },
    deleteCollection: async (options = {}) => {
      await call({
        verb: 'deletecollection',
        method: 'DELETE',
        type,
        namespace: options.namespace,
        query: listQuery(options),
        body: deleteBody(options),
      }).then(failOnStatus);
    },
    subresource: <S extends ApiObject = T>(name: string) => subresourceClient<S>(call, type, name),
  };
}

function subresourceClient<S extends ApiObject>(
  call: Call,
  type: ResourceType,
  subresource: string,
): SubresourceClient<S> {
  const at = (key: ObjectKey) => ({ type, ...placeOf(key), subresource });
  return {
    get: (key) => orUndefined(call({ verb: 'get', method: 'GET', ...at(key) }).then((result) => objectOf<S>(result))),
    create: async (key, object, options) =>
      objectOf<S>(await call({ verb: 'create', method: 'POST', ...at(key), query: writeQuery(options), body: object })),
    update: async (object, options) =>
      objectOf<S>(
        await call({
          verb: 'update',
          method: 'PUT',
          ...at(keyOfGiven(object)),
          query: writeQuery(options),
          body: object,
        }),
      ),
    patch: async (key, patch, options) => objectOf<S>(await call(patchCall(at(key), patch, options))),
  };
}

/** Programs without types leave the name out. */
const placeOf = ({ namespace, name }: ObjectKey) => ({ namespace, name: name ?? '' });

const patchCall = (
  at: Pick<CallParts, 'type' | 'namespace' | 'name'>,
  patch: Patch,
  options: WriteOptions | undefined,
): CallParts => ({ verb: 'patch', method: 'PATCH', ...at, ...patchRequest(patch, writeQuery(options)) });

const deleteBody = (options: DeleteOptions): JsonObject | undefined => {
  const body = deletionOf(options);
  return Object.keys(body).length ? body : undefined;
};

/** Failures come as Status results; here they are thrown again. */
function failOnStatus(result: Result): Result {
  if (result.type === 'text')
    throw new ApiError({
      message: result.text.trim(),
      code: result.code,
      ...(result.code === 404 ? { reason: 'NotFound' as const } : {}),
    });
  if (result.type !== 'object' || result.definition !== undefined) return result;
  const status = result.object as Status;
  if (status.kind !== 'Status' || status.status !== 'Failure') return result;
  throw new ApiError({
    message: status.message ?? '',
    reason: status.reason as ApiError['reason'],
    code: status.code,
    details: status.details,
    ...(status.metadata.continue === undefined ? {} : { continueToken: status.metadata.continue }),
  });
}

async function objectOf<T extends ApiObject>(answer: Result): Promise<T> {
  const result = failOnStatus(answer);
  if (result.type === 'object') return ownCopy(result.object as Json) as unknown as T;
  if (result.type !== 'entry') throw new Error(`an object was expected, not a ${result.type}`);
  const { definition, entry } = result;
  return isLarge(entry) ? await inTurns(readInSteps<T>(definition, entry, {})) : readAs<T>(definition, entry, {});
}

async function listOf<T extends ApiObject>(answer: Result, options: ListOptions): Promise<List<T>> {
  const result = failOnStatus(answer);
  if (result.type !== 'list') throw new Error(`a list was expected, not a ${result.type}`);
  const { definition, entries } = result;
  const turns = new TurnTaking();
  const items: T[] = [];
  for (const entry of entries) {
    if (turns.isDue) await turns.next();
    items.push(
      isLarge(entry)
        ? await inTurns(readInSteps<T>(definition, entry, options), turns)
        : readAs<T>(definition, entry, options),
    );
  }
  return { metadata: listMeta(result), items };
}

/** An object as the options of a list or watch want it: the caller's own, as over HTTP, while what is read is everybody's. */
function* readInSteps<T extends ApiObject>(
  definition: ResourceDefinition,
  entry: Entry,
  options: ReadOptions,
): Steps<T> {
  const read = options.metadataOnly ? yield* readMetadata(definition, entry) : yield* readStored(definition, entry);
  const own = (isLarge(entry) ? yield* ownCopyInSteps(read as Json) : ownCopy(read as Json)) as unknown;
  return options.metadataOnly ? withMetadata<T>(definition, own as ApiObject['metadata']) : (own as T);
}

const readAs = <T extends ApiObject>(definition: ResourceDefinition, entry: Entry, options: ReadOptions): T =>
  atOnce(readInSteps<T>(definition, entry, options));

interface ReadOptions {
  readonly metadataOnly?: boolean;
}
const withMetadata = <T extends ApiObject>(definition: ResourceDefinition, metadata: ApiObject['metadata']): T =>
  ({ apiVersion: groupVersion(definition), kind: definition.kind, metadata }) as T;

type EntryItem = Extract<WatchItem, { readonly entry: Entry }>;

function watch<T extends ApiObject>(
  call: Call,
  type: ResourceType<T>,
  options: WatchOptions,
): Observable<WatchEvent<T>> {
  return new Observable((subscriber) => {
    call({ verb: 'watch', method: 'GET', type, namespace: options.namespace, query: watchQuery(options) })
      .then((answer) => {
        if (subscriber.closed) return;
        const result = failOnStatus(answer);
        if (result.type !== 'watch') throw new Error(`a watch was expected, not a ${result.type}`);
        options.onOpen?.();
        const { definition, events, pace } = result;
        const fail = (error: unknown): void => subscriber.error(error);
        const reader = new LaterReader(pace, fail);
        function* tell({ type, entry }: EntryItem): Steps<void> {
          if (!subscriber.closed) subscriber.next({ type, object: yield* readInSteps<T>(definition, entry, options) });
        }
        subscriber.add(
          events.subscribe({
            next: (item) => {
              if ('entry' in item) reader.take(() => tell(item), isLarge(item.entry));
              else reader.take(() => (item.type === 'ERROR' ? fail(item.error) : subscriber.next(item)));
            },
            error: (error: unknown) => reader.take(() => fail(error)),
            complete: () => reader.take(() => subscriber.complete()),
          }),
        );
      })
      .catch((error: unknown) => subscriber.error(error));
  });
}
