import type { Client } from './client.js';

/** For each client, the function that makes one like it whose calls abort with a signal. */
const endings = new WeakMap<Client, (signal: AbortSignal) => Client>();

/** Registers how to make a client like this one whose calls abort with a signal. Returns the client itself. */
export function withAbortFactory<C extends Client>(client: C, until: (signal: AbortSignal) => Client): C {
  endings.set(client, until);
  return client;
}

/** Returns a client whose calls under way fail once the signal aborts; the client itself if its calls cannot be aborted. */
export const withAbort = (signal: AbortSignal, client: Client): Client => endings.get(client)?.(signal) ?? client;
