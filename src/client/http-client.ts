import { setMaxListeners } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { ApiError } from '../api/errors.js';
import { goJson } from '../api/go-text.js';
import { keyOfGiven } from '../api/looked-up.js';
import { type ApiObject, groupVersion, type ObjectKey, type ResourceType } from '../api/object.js';
import { type Clock, systemClock } from '../runtime/clock.js';
import { Observable } from '../runtime/observable.js';
import type {
  Client,
  ClientOptions,
  DeleteOptions,
  Patch,
  ResourceClient,
  SubresourceClient,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client.js';
import { AccessError, type ClusterAccess } from './cluster-access.js';
import { isConnectionReset } from './connection-reset.js';
import { discover } from './discover.js';
import { endingBy, endingWith } from './ending.js';
import { documentFrom, listFrom, objectFrom, readAnswer } from './http-answer.js';
import { type HttpRequest, type HttpTransport, httpTransport } from './http-transport.js';
import { orUndefined } from './or-undefined.js';
import { objectPath, readPath, withQuery, writtenPath } from './resource-paths.js';
import { type OnWarning, tellingBy, tellingTo, warningTexts } from './warnings.js';
import { linesOf, watchEvent } from './watch-stream.js';
import { deletionOf, listQuery, patchRequest, type WrittenQuery, watchQuery, writeQuery } from './written-options.js';

/** A client over HTTP, with connections of its own. */
export interface RemoteClient extends Client {
  /** PEM of the CAs that verify the server; empty if that is left to Node. */
  readonly ca: string;
  /** The server's version, such as `v1.36.0`; empty if it does not report one. */
  serverVersion(): Promise<string>;
  /** Ends all connections; calls and watches under way fail, and so do later ones. */
  close(): void;
}

/** How a client calls itself, and by which clock it waits. */
export interface HttpClientOptions extends ClientOptions {
  readonly clock?: Clock | undefined;
  /** Default `kedge`. */
  readonly userAgent?: string;
}

/**
 * A client over HTTP/1.1 with keep-alive. Failures of the server are ApiErrors. Others, such as connection errors, are
 * Errors with method and URL and the code of their cause; AccessErrors, for example about credentials, are not changed.
 */
export function httpClient(access: ClusterAccess, options: HttpClientOptions = {}): RemoteClient {
  const { clock = systemClock, userAgent = 'kedge', fieldValidation } = options;
  const transport = httpTransport(access, userAgent);
  const closing = new AbortController();
  // Every request that waits to be sent again listens.
  setMaxListeners(0, closing.signal);

  /** Once more if a kept connection turned out to be dead; only what cannot have done anything yet is repeated. */
  const reach = async (request: HttpRequest): ReturnType<HttpTransport['send']> => {
    try {
      return await transport.send(request);
    } catch (error) {
      if (request.method !== 'GET' || !isConnectionReset(error)) throw error;
      return transport.send(request);
    }
  };

  /** Not longer than the request or the client lasts: sending again then fails. */
  const pause = (waitMs: number, signal: AbortSignal | undefined): Promise<void> =>
    clock.sleep(waitMs, signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]));

  /** Sends until the server takes it: with new credentials if the old were refused, later if it asks for time. */
  const send = async (request: HttpRequest, onWarning?: OnWarning): Promise<IncomingMessage> => {
    let renewed = false;
    for (let tries = 1; ; tries++) {
      const { answer, presented } = await reach(request);
      const renews: boolean = answer.statusCode === 401 && !renewed && access.credentials.refused(presented);
      const waitMs = renews ? 0 : tries < maxTries ? askedToWait(answer) : undefined;
      if (waitMs === undefined) {
        if (onWarning !== undefined) for (const text of warningTexts(answer.headers.warning)) onWarning(text);
        return answer;
      }
      renewed ||= renews;
      answer.resume();
      if (waitMs > 0) await pause(waitMs, request.signal);
    }
  };

  /** Without the query, which differs each time: logs report the same failure only once. */
  const asked = ({ method, path }: Asked): string => `${method} ${transport.urlOf(path.replace(/\?.*/s, ''))}`;

  const callUntil =
    (signal?: AbortSignal, onWarning?: OnWarning): Wire['call'] =>
    async (request, read) => {
      const body = request.body === undefined ? undefined : goJson(request.body);
      const sent = {
        method: request.method,
        path: request.path,
        headers: {
          accept: request.accept ?? json,
          ...(body === undefined ? {} : { 'content-type': request.contentType ?? json }),
        },
        ...(body === undefined ? {} : { body }),
        signal,
      };
      try {
        const answer = await send(sent, onWarning);
        return read(await readAnswer(answer, asked(request), request.type));
      } catch (error) {
        signal?.throwIfAborted();
        throw ofCall(asked(request), error);
      }
    };

  const written = (given: WriteOptions = {}): WrittenQuery => ({
    ...writeQuery(given),
    fieldValidation: given.fieldValidation ?? fieldValidation,
  });

  const clientUntil = (signal?: AbortSignal, onWarning = options.onWarning): Client => {
    const call = callUntil(signal, onWarning);
    const wire: Wire = { call, send: (request) => send(request, onWarning), asked, written };
    const client: Client = {
      resource: <T extends ApiObject>(type: ResourceType<T>) => resourceClient<T>(wire, type),
      discover: (options) => discover((path, accept) => call({ method: 'GET', path, accept }, documentFrom), options),
    };
    if (onWarning === undefined) tellingBy(client, (tell) => clientUntil(signal, tell));
    return endingBy(client, (other) => {
      const either = AbortSignal.any(signal === undefined ? [other] : [signal, other]);
      // Every call under way listens.
      setMaxListeners(0, either);
      return clientUntil(either, onWarning);
    });
  };

  const client = clientUntil();
  const serverVersion = async (): Promise<string> => {
    const read = (answer: unknown) => answer as { readonly gitVersion?: unknown } | null | undefined;
    const answer = await callUntil()({ method: 'GET', path: '/version' }, read);
    return typeof answer?.gitVersion === 'string' ? answer.gitVersion : '';
  };
  const close = (): void => {
    closing.abort();
    transport.close();
  };
  const remote: RemoteClient = { ...client, ca: access.ca ?? '', serverVersion, close };
  if (options.onWarning === undefined) tellingBy(remote, (onWarning) => tellingTo(onWarning, client));
  return endingBy(remote, (signal) => endingWith(signal, client));
}

type Asked = Pick<HttpRequest, 'method' | 'path'>;
interface Call extends Asked {
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  /** Whose collection or object is asked for. Not of a subresource: where that is not served, the type may be. */
  readonly type?: ResourceType;
}
interface Wire {
  /** `read` throws on what is no answer to the request. */
  call<R>(request: Call, read: (answer: unknown) => R): Promise<R>;
  send(request: HttpRequest): Promise<IncomingMessage>;
  /** What a failure says was asked. */
  asked(request: Asked): string;
  /** The query of a write. */
  written(options: WriteOptions | undefined): WrittenQuery;
}
const asItIs = (answer: unknown): unknown => answer;

const maxTries = 6;
const maxWaitMs = 30_000;

/** Milliseconds the server asks to wait before trying again. */
function askedToWait({ statusCode = 0, headers }: IncomingMessage): number | undefined {
  if (statusCode !== 429 && statusCode < 500) return undefined;
  const seconds = Number(headers['retry-after']);
  return headers['retry-after'] === undefined || !(seconds >= 0) ? undefined : Math.min(maxWaitMs, seconds * 1_000);
}

/** What failed on the way, or was no answer, with what was asked; by its code others know what may be tried again. */
function ofCall(asked: string, error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ApiError || error instanceof AccessError) return error;
  const { message, code } = error as NodeJS.ErrnoException;
  // Without a message are those of a name with several addresses.
  const told = new Error(`${asked}: ${message || code}`, { cause: error });
  return code === undefined ? told : Object.assign(told, { code });
}

const json = 'application/json';

/** Servers that cannot give metadata alone give everything. */
const acceptOf = ({ metadataOnly }: { readonly metadataOnly?: boolean }, kind: string): string =>
  metadataOnly ? `${json};as=${kind};g=meta.k8s.io;v=v1,${json}` : json;

/** An object without anything but its metadata, under its own kind. */
const bare = <T extends ApiObject>(type: ResourceType<T>, { metadata }: T): T =>
  ({ apiVersion: groupVersion(type), kind: type.kind, metadata }) as T;

const deleteBody = (options: DeleteOptions) => ({ apiVersion: 'v1', kind: 'DeleteOptions', ...deletionOf(options) });

const patchCall = (at: string, patch: Patch, written: WrittenQuery): Call => {
  const { query, body, contentType } = patchRequest(patch, written);
  return { method: 'PATCH', path: withQuery(at, query), body, contentType };
};

function resourceClient<T extends ApiObject>(wire: Wire, type: ResourceType<T>): ResourceClient<T> {
  const { written } = wire;
  const call: Wire['call'] = (request, read) => wire.call({ ...request, type }, read);
  const identity = { apiVersion: groupVersion(type), kind: type.kind };
  const object = (request: Call): Promise<T> =>
    call(request, (answer) => objectFrom<T>(answer, { orStatus: type.kind === 'Status' }));
  return {
    get: async (key) => orUndefined(object({ method: 'GET', path: objectPath(type, key) })),
    async list(options = {}) {
      const path = withQuery(readPath(type, options.namespace), listQuery(options));
      const accept = acceptOf(options, 'PartialObjectMetadataList');
      const list = await call({ method: 'GET', path, accept }, listFrom<T>);
      return {
        metadata: { ...list.metadata, resourceVersion: list.metadata?.resourceVersion ?? '' },
        // Items of built-in kinds come without kind and version.
        items: (list.items ?? []).map((item) => (options.metadataOnly ? bare(type, item) : { ...item, ...identity })),
      };
    },
    watch: (options = {}) => watch<T>(wire, type, options),
    create: async (given, options) => {
      const path = withQuery(writtenPath(type, given.metadata.namespace), written(options));
      // What is done rather than kept, as a binding, is answered by a Status.
      return call({ method: 'POST', path, body: given }, (answer) => objectFrom<T>(answer, { orStatus: true }));
    },
    update: async (given, options) =>
      object({ method: 'PUT', path: withQuery(objectPath(type, keyOfGiven(given)), written(options)), body: given }),
    patch: async (key, patch, options) => object(patchCall(objectPath(type, key), patch, written(options))),
    async delete(key, options = {}) {
      await call({ method: 'DELETE', path: objectPath(type, key), body: deleteBody(options) }, asItIs);
    },
    async deleteCollection(options = {}) {
      const path = withQuery(writtenPath(type, options.namespace), listQuery(options));
      await call({ method: 'DELETE', path, body: deleteBody(options) }, asItIs);
    },
    subresource: <S extends ApiObject = T>(name: string) => subresourceClient<S>(wire, type, name),
  };
}

function subresourceClient<S extends ApiObject>(
  { call, written }: Wire,
  type: ResourceType,
  subresource: string,
): SubresourceClient<S> {
  const path = (key: ObjectKey): string => objectPath(type, key, subresource);
  const object = (request: Call): Promise<S> => call(request, (answer) => objectFrom<S>(answer, { orStatus: true }));
  return {
    get: async (key) => orUndefined(object({ method: 'GET', path: path(key) })),
    create: async (key, body, options) =>
      object({ method: 'POST', path: withQuery(path(key), written(options)), body }),
    update: async (body, options) =>
      object({ method: 'PUT', path: withQuery(path(keyOfGiven(body)), written(options)), body }),
    patch: async (key, patch, options) => object(patchCall(path(key), patch, written(options))),
  };
}

function watch<T extends ApiObject>(
  { send, asked }: Wire,
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
        if (answer.statusCode !== 200) await readAnswer(answer, asked(request), type);
        options.onOpen?.();
        for await (const line of linesOf(answer)) {
          if (line !== '') subscriber.next(only(watchEvent<T>(line)));
          if (subscriber.closed) return;
        }
      } catch (error) {
        throw ofCall(asked(request), error);
      }
    };
    run().then(
      () => subscriber.complete(),
      (error: unknown) => subscriber.error(error),
    );
    return () => stop.abort();
  });
}
