import type { ApiObject } from '../api/object.js';
import { withAbort, withAbortFactory } from '../client/abortable-client.js';
import type { Client, ResourceClient, SubresourceClient } from '../client/client.js';
import { throwIfDue } from '../runtime/abort.js';
import { Observable } from '../runtime/observable.js';

/** For each client with a lifetime, the client it wraps. */
const wrappedClients = new WeakMap<Client, Client>();

/**
 * Returns a client that works until the signal aborts. Later calls fail with the signal's reason, and nothing is sent.
 * Calls in progress fail too; those over HTTP are aborted, because the server may take long to respond. `onAborted` is
 * called before a call fails in this way.
 */
export function clientUntil(signal: AbortSignal, client: Client, onAborted: () => void = () => {}): Client {
  const within = withAbort(signal, client);
  const end: End = { signal, told: onAborted };
  const ending: Client = {
    resource: (type) => resourceUntil(end, within.resource(type)),
    discover: (options) => unlessAborted(end, () => within.discover(options)),
  };
  wrappedClients.set(ending, underlyingClient(client));
  return withAbortFactory(ending, (other) => clientUntil(signal, withAbort(other, client), onAborted));
}

interface End {
  readonly signal: AbortSignal;
  told(): void;
}

/** Returns the client that `clientUntil` wrapped, for cleaning up after everything else has ended. */
export const underlyingClient = (client: Client): Client => wrappedClients.get(client) ?? client;

function check({ signal, told }: End): void {
  if (signal.aborted) told();
  signal.throwIfAborted();
  throwIfDue(signal);
}

async function unlessAborted<R>(end: End, call: () => Promise<R>): Promise<R> {
  check(end);
  const answer = await call();
  check(end);
  return answer;
}

function resourceUntil<T extends ApiObject>(ends: End, resource: ResourceClient<T>): ResourceClient<T> {
  const { signal } = ends;
  const call = <R>(send: () => Promise<R>): Promise<R> => unlessAborted(ends, send);
  return {
    get: (...given) => call(() => resource.get(...given)),
    list: (...given) => call(() => resource.list(...given)),
    watch: (...given) =>
      new Observable((subscriber) => {
        const end = (): void => subscriber.error(signal.reason);
        if (signal.aborted) return end();
        throwIfDue(signal);
        signal.addEventListener('abort', end, { once: true });
        subscriber.add(() => signal.removeEventListener('abort', end));
        return resource.watch(...given).subscribe(subscriber);
      }),
    create: (...given) => call(() => resource.create(...given)),
    update: (...given) => call(() => resource.update(...given)),
    patch: (...given) => call(() => resource.patch(...given)),
    delete: (...given) => call(() => resource.delete(...given)),
    deleteCollection: (...given) => call(() => resource.deleteCollection(...given)),
    subresource: <S extends ApiObject = T>(name: string) => subresourceUntil(ends, resource.subresource<S>(name)),
  };
}

function subresourceUntil<S extends ApiObject>(ends: End, subresource: SubresourceClient<S>): SubresourceClient<S> {
  const call = <R>(send: () => Promise<R>): Promise<R> => unlessAborted(ends, send);
  return {
    get: (...given) => call(() => subresource.get(...given)),
    create: (...given) => call(() => subresource.create(...given)),
    update: (...given) => call(() => subresource.update(...given)),
    patch: (...given) => call(() => subresource.patch(...given)),
  };
}
