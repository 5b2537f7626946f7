import { setMaxListeners } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { goJson } from '../api/go-text.js';
import type { ApiObject, ResourceType } from '../api/object.js';
import { type Clock, systemClock } from '../runtime/clock.js';
import type { Client, ClientOptions, WriteOptions } from './client.js';
import type { ClusterAccess } from './cluster-access.js';
import { isConnectionReset } from './connection-reset.js';
import { discover } from './discover.js';
import { endingBy, endingWith } from './ending.js';
import { documentFrom, readAnswer } from './http-answer.js';
import { type Asked, json, ofCall, resourceClient, type Wire } from './http-resource.js';
import { type HttpRequest, type HttpTransport, httpTransport } from './http-transport.js';
import { type OnWarning, tellingBy, tellingTo, warningTexts } from './warnings.js';
import { type WrittenQuery, writeQuery } from './written-options.js';

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

const maxTries = 6;
const maxWaitMs = 30_000;

/** Milliseconds the server asks to wait before trying again. */
function askedToWait({ statusCode = 0, headers }: IncomingMessage): number | undefined {
  if (statusCode !== 429 && statusCode < 500) return undefined;
  const seconds = Number(headers['retry-after']);
  return headers['retry-after'] === undefined || !(seconds >= 0) ? undefined : Math.min(maxWaitMs, seconds * 1_000);
}
