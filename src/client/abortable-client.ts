import type { Client } from './client.js';

/** How clients end whose calls can be broken off. */
const endings = new WeakMap<Client, (signal: AbortSignal) => Client>();

/** The client, with how the same is made for as long as a signal has not aborted. */
export function withAbortFactory<C extends Client>(client: C, until: (signal: AbortSignal) => Client): C {
  endings.set(client, until);
  return client;
}

/** A client whose calls under way fail once the signal aborts, where they can be broken off; else the client itself. */
export const withAbort = (signal: AbortSignal, client: Client): Client => endings.get(client)?.(signal) ?? client;
