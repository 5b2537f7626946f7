import { setMaxListeners } from 'node:events';
import { goJson } from '../api/go-text.js';
import type { ApiObject, ResourceType } from '../api/object.js';
import { type Clock, systemClock } from '../runtime/clock.js';
import { withAbort, withAbortFactory } from './abortable-client.js';
import type { Client, ClientOptions, WriteOptions } from './client.js';
import type { ClusterAccess } from './cluster-access.js';
import { discover } from './discover.js';
import { type RequestTarget, type ResourceTransport, resourceClient, wrapRequestError } from './http-resource.js';
import { decodeDiscovery, readResponse } from './http-response.js';
import { HttpSender } from './http-sender.js';
import { httpTransport, jsonMediaType } from './http-transport.js';
import { type QueryParameters, writeQuery } from './request-options.js';
import { type OnWarning, withWarningFactory, withWarnings } from './warnings.js';

/** A client over HTTP, with connections of its own. */
export interface RemoteClient extends Client {
  /** The CAs that verify the server, in PEM; empty if Node.js' own are used. */
  readonly ca: string;
  /** The server's version, such as `v1.36.0`; empty if it does not report one. */
  serverVersion(): Promise<string>;
  /** Ends all connections; calls and watches in progress fail, and so do later ones. */
  close(): void;
}

/** The user agent and the clock of a client, and the options of its calls. */
export interface HttpClientOptions extends ClientOptions {
  readonly clock?: Clock | undefined;
  /** User agent of the requests; `kedge` by default. */
  readonly userAgent?: string;
}

/**
 * Returns a client over HTTP/1.1 with keep-alive. Failures of the server are ApiErrors. Others, such as connection
 * errors, are Errors with method and URL and the code of their cause; AccessErrors, for example about credentials, are
 * passed on unchanged.
 */
export function httpClient(access: ClusterAccess, options: HttpClientOptions = {}): RemoteClient {
  const { clock = systemClock, userAgent = 'kedge', fieldValidation } = options;
  const transport = httpTransport(access, userAgent);
  const sender = new HttpSender(transport, { credentials: access.credentials, clock });

  /** Describes a request without its query, which differs each time, so that logs report the same failure only once. */
  const describe = ({ method, path }: RequestTarget): string =>
    `${method} ${transport.urlOf(path.replace(/\?.*/s, ''))}`;

  const callUntil =
    (signal?: AbortSignal, onWarning?: OnWarning): ResourceTransport['call'] =>
    async (request, read) => {
      const body = request.body === undefined ? undefined : goJson(request.body);
      const sent = {
        method: request.method,
        path: request.path,
        headers: {
          accept: request.accept ?? jsonMediaType,
          ...(body === undefined ? {} : { 'content-type': request.contentType ?? jsonMediaType }),
        },
        ...(body === undefined ? {} : { body }),
        signal,
      };
      try {
        const answer = await sender.send(sent, onWarning);
        return read(await readResponse(answer, describe(request), request.type));
      } catch (error) {
        signal?.throwIfAborted();
        throw wrapRequestError(describe(request), error);
      }
    };

  const writeQueryWithDefaults = (options: WriteOptions = {}): QueryParameters => ({
    ...writeQuery(options),
    fieldValidation: options.fieldValidation ?? fieldValidation,
  });

  const clientUntil = (signal?: AbortSignal, onWarning = options.onWarning): Client => {
    const call = callUntil(signal, onWarning);
    const wire: ResourceTransport = {
      call,
      send: (request) => sender.send(request, onWarning),
      describe,
      writeQuery: writeQueryWithDefaults,
    };
    const client: Client = {
      resource: <T extends ApiObject>(type: ResourceType<T>) => resourceClient<T>(wire, type),
      discover: (options) =>
        discover((path, accept) => call({ method: 'GET', path, accept }, decodeDiscovery), options),
    };
    if (onWarning === undefined) withWarningFactory(client, (tell) => clientUntil(signal, tell));
    return withAbortFactory(client, (other) => {
      const either = AbortSignal.any(signal === undefined ? [other] : [signal, other]);
      // Every call in progress adds a listener.
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
    sender.close();
    transport.close();
  };
  const remote: RemoteClient = { ...client, ca: access.ca ?? '', serverVersion, close };
  if (options.onWarning === undefined) withWarningFactory(remote, (onWarning) => withWarnings(onWarning, client));
  return withAbortFactory(remote, (signal) => withAbort(signal, client));
}
