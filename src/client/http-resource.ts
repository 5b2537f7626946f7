import type { IncomingMessage } from 'node:http';
import { ApiError } from '../api/errors.js';
import { type ApiObject, groupVersion, type ObjectKey, type ResourceType } from '../api/object.js';
import { requestKey } from '../api/request-keys.js';
import { Observable } from '../runtime/observable.js';
import type {
  DeleteOptions,
  Patch,
  ResourceClient,
  SubresourceClient,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client.js';
import { AccessError } from './cluster-access.js';
import { decodeList, decodeObject, readResponse } from './http-response.js';
import { type HttpRequest, jsonMediaType } from './http-transport.js';
import { ignoreNotFound } from './ignore-not-found.js';
import { deleteOptionsBody, listQuery, patchRequest, type QueryParameters, watchQuery } from './request-options.js';
import { objectPath, readPath, withQuery, writePath } from './resource-paths.js';
import { linesOf, watchEvent } from './watch-stream.js';

/** Method and path of a request. */
export type RequestTarget = Pick<HttpRequest, 'method' | 'path'>;
export interface ResourceRequest extends RequestTarget {
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  /**
   * The type of the requested collection or object. Absent for subresources, which may not be served although the type
   * is.
   */
  readonly type?: ResourceType;
}
/** Sends requests for resource clients. */
export interface ResourceTransport {
  /** Sends a request and decodes the response; `read` throws if it does not fit the request. */
  call<R>(request: ResourceRequest, read: (answer: unknown) => R): Promise<R>;
  send(request: HttpRequest): Promise<IncomingMessage>;
  /** Describes a request in errors: method and URL without the query. */
  describe(request: RequestTarget): string;
  /** Returns the query parameters of a write. */
  writeQuery(options: WriteOptions | undefined): QueryParameters;
}
const asItIs = (answer: unknown): unknown => answer;

/** Wraps a transport error with the description of its request, keeping its code, by which callers decide on retries. */
export function wrapRequestError(call: string, error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ApiError || error instanceof AccessError) return error;
  const { message, code } = error as NodeJS.ErrnoException;
  // The AggregateError for a host name with several addresses has no message.
  const wrapped = new Error(`${call}: ${message || code}`, { cause: error });
  return code === undefined ? wrapped : Object.assign(wrapped, { code });
}

/** Returns the Accept header. Servers without PartialObjectMetadata send whole objects. */
const acceptOf = ({ metadataOnly }: { readonly metadataOnly?: boolean }, kind: string): string =>
  metadataOnly ? `${jsonMediaType};as=${kind};g=meta.k8s.io;v=v1,${jsonMediaType}` : jsonMediaType;

/** Returns an object with its metadata only, under its own kind. */
const bare = <T extends ApiObject>(type: ResourceType<T>, { metadata }: T): T =>
  ({ apiVersion: groupVersion(type), kind: type.kind, metadata }) as T;

const deleteBody = (options: DeleteOptions) => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  ...deleteOptionsBody(options),
});

const patchCall = (at: string, patch: Patch, written: QueryParameters): ResourceRequest => {
  const { query, body, contentType } = patchRequest(patch, written);
  return { method: 'PATCH', path: withQuery(at, query), body, contentType };
};

/** Returns the client of one resource type. */
export function resourceClient<T extends ApiObject>(wire: ResourceTransport, type: ResourceType<T>): ResourceClient<T> {
  const { writeQuery } = wire;
  const call: ResourceTransport['call'] = (request, read) => wire.call({ ...request, type }, read);
  const identity = { apiVersion: groupVersion(type), kind: type.kind };
  const object = (request: ResourceRequest): Promise<T> =>
    call(request, (answer) => decodeObject<T>(answer, { orStatus: type.kind === 'Status' }));
  return {
    get: async (key) => ignoreNotFound(object({ method: 'GET', path: objectPath(type, key) })),
    async list(options = {}) {
      const path = withQuery(readPath(type, options.namespace), listQuery(options));
      const accept = acceptOf(options, 'PartialObjectMetadataList');
      const list = await call({ method: 'GET', path, accept }, decodeList<T>);
      return {
        metadata: { ...list.metadata, resourceVersion: list.metadata?.resourceVersion ?? '' },
        // Items of built-in kinds lack kind and version.
        items: (list.items ?? []).map((item) => (options.metadataOnly ? bare(type, item) : { ...item, ...identity })),
      };
    },
    watch: (options = {}) => watch<T>(wire, type, options),
    create: async (desired, options) => {
      const path = withQuery(writePath(type, desired.metadata.namespace), writeQuery(options));
      // Subresources that perform an action, such as bindings, respond with a Status.
      return call({ method: 'POST', path, body: desired }, (answer) => decodeObject<T>(answer, { orStatus: true }));
    },
    update: async (desired, options) =>
      object({
        method: 'PUT',
        path: withQuery(objectPath(type, requestKey(desired)), writeQuery(options)),
        body: desired,
      }),
    patch: async (key, patch, options) => object(patchCall(objectPath(type, key), patch, writeQuery(options))),
    async delete(key, options = {}) {
      await call({ method: 'DELETE', path: objectPath(type, key), body: deleteBody(options) }, asItIs);
    },
    async deleteCollection(options = {}) {
      const path = withQuery(writePath(type, options.namespace), listQuery(options));
      await call({ method: 'DELETE', path, body: deleteBody(options) }, asItIs);
    },
    subresource: <S extends ApiObject = T>(name: string) => subresourceClient<S>(wire, type, name),
  };
}

function subresourceClient<S extends ApiObject>(
  { call, writeQuery }: ResourceTransport,
  type: ResourceType,
  subresource: string,
): SubresourceClient<S> {
  const path = (key: ObjectKey): string => objectPath(type, key, subresource);
  const object = (request: ResourceRequest): Promise<S> =>
    call(request, (answer) => decodeObject<S>(answer, { orStatus: true }));
  return {
    get: async (key) => ignoreNotFound(object({ method: 'GET', path: path(key) })),
    create: async (key, body, options) =>
      object({ method: 'POST', path: withQuery(path(key), writeQuery(options)), body }),
    update: async (body, options) =>
      object({ method: 'PUT', path: withQuery(path(requestKey(body)), writeQuery(options)), body }),
    patch: async (key, patch, options) => object(patchCall(path(key), patch, writeQuery(options))),
  };
}

function watch<T extends ApiObject>(
  { send, describe }: ResourceTransport,
  type: ResourceType<T>,
  options: WatchOptions,
): Observable<WatchEvent<T>> {
  const only = (event: WatchEvent<T>): WatchEvent<T> =>
    options.metadataOnly && 'object' in event ? { ...event, object: bare(type, event.object) } : event;
  return new Observable((subscriber) => {
    const stop = new AbortController();
    const run = async (): Promise<void> => {
      const request = { method: 'GET', path: withQuery(readPath(type, options.namespace), watchQuery(options)) };
      const headers = { accept: acceptOf(options, 'PartialObjectMetadata') };
      try {
        const answer = await send({ ...request, headers, signal: stop.signal, silenceMs: Number.POSITIVE_INFINITY });
        if (answer.statusCode !== 200) await readResponse(answer, describe(request), type);
        options.onOpen?.();
        for await (const line of linesOf(answer)) {
          if (line !== '') subscriber.next(only(watchEvent<T>(line)));
          if (subscriber.closed) return;
        }
      } catch (error) {
        throw wrapRequestError(describe(request), error);
      }
    };
    run().then(
      () => subscriber.complete(),
      (error: unknown) => subscriber.error(error),
    );
    return () => stop.abort();
  });
}
