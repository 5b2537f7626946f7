import type { ApiObject } from '../api/object.js';
import type { Client, ResourceClient, SubresourceClient } from '../client/client.js';
import { endingBy, endingWith } from '../client/ending.js';
import { Observable } from '../runtime/observable.js';

/** What clients that end were made of. */
const lasting = new WeakMap<Client, Client>();

/**
 * A client for as long as the signal has not aborted: later calls fail with the signal's reason, and nothing is sent. So do
 * calls that are under way; those to a server elsewhere are broken off, as it may be long in answering. `told` is called
 * before one fails so.
 */
export function clientUntil(signal: AbortSignal, client: Client, told: () => void = () => {}): Client {
  const ending = clientAround(aroundUntil({ signal, told }), endingWith(signal, client));
  lasting.set(ending, lastingClient(client));
  return endingBy(ending, (other) => clientUntil(signal, endingWith(other, client), told));
}

/** A client of which `look` is called before each call: where it throws, the call fails so, and nothing is sent. */
export const clientAfter = (look: () => void, client: Client): Client => {
  const around: Around = {
    async call(made) {
      look();
      return made();
    },
    watch: (made) =>
      new Observable((subscriber) => {
        look();
        return made().subscribe(subscriber);
      }),
  };
  return endingBy(clientAround(around, client), (signal) => clientAfter(look, endingWith(signal, client)));
};

/** The client behind one that ends: for what can only be done when everything else has ended. */
export const lastingClient = (client: Client): Client => lasting.get(client) ?? client;

interface End {
  readonly signal: AbortSignal;
  told(): void;
}

function check({ signal, told }: End): void {
  if (signal.aborted) told();
  signal.throwIfAborted();
}

const aroundUntil = (end: End): Around => ({
  async call(made) {
    check(end);
    const answer = await made();
    check(end);
    return answer;
  },
  watch: (made) =>
    new Observable((subscriber) => {
      const { signal } = end;
      const stop = (): void => subscriber.error(signal.reason);
      if (signal.aborted) return stop();
      signal.addEventListener('abort', stop, { once: true });
      subscriber.add(() => signal.removeEventListener('abort', stop));
      return made().subscribe(subscriber);
    }),
});

/** What happens around each call of a client. */
interface Around {
  call<R>(made: () => Promise<R>): Promise<R>;
  watch<E>(made: () => Observable<E>): Observable<E>;
}

const clientAround = (around: Around, client: Client): Client => ({
  resource: (type) => resourceAround(around, client.resource(type)),
  discover: (options) => around.call(() => client.discover(options)),
});

function resourceAround<T extends ApiObject>(around: Around, resource: ResourceClient<T>): ResourceClient<T> {
  const { call } = around;
  return {
    get: (...given) => call(() => resource.get(...given)),
    list: (...given) => call(() => resource.list(...given)),
    watch: (...given) => around.watch(() => resource.watch(...given)),
    create: (...given) => call(() => resource.create(...given)),
    update: (...given) => call(() => resource.update(...given)),
    patch: (...given) => call(() => resource.patch(...given)),
    delete: (...given) => call(() => resource.delete(...given)),
    deleteCollection: (...given) => call(() => resource.deleteCollection(...given)),
    subresource: <S extends ApiObject = T>(name: string) => subresourceAround(around, resource.subresource<S>(name)),
  };
}

function subresourceAround<S extends ApiObject>(
  { call }: Around,
  subresource: SubresourceClient<S>,
): SubresourceClient<S> {
  return {
    get: (...given) => call(() => subresource.get(...given)),
    create: (...given) => call(() => subresource.create(...given)),
    update: (...given) => call(() => subresource.update(...given)),
    patch: (...given) => call(() => subresource.patch(...given)),
  };
}
