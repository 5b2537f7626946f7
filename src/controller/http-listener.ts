import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, endingClock } from '../runtime/clock.js';

/** How runnables that answer HTTP begin and end. Servers with TLS have the same methods. */
type HttpServer = Pick<
  Server,
  'listen' | 'address' | 'close' | 'closeIdleConnections' | 'closeAllConnections' | 'once' | 'off' | 'on'
>;

/** Resolves with the port once connections are accepted; rejects if it cannot be had. */
export async function opened(
  server: HttpServer,
  { host, port }: { readonly host: string | undefined; readonly port: number },
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}

/** Takes no more connections, lets requests end for so long at most, then cuts them off. */
export async function closed(server: HttpServer, clock: Clock, graceMs: number): Promise<void> {
  const over = new AbortController();
  const all = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  await Promise.race([all, endingClock(clock).sleep(graceMs, over.signal)]);
  over.abort();
  server.closeAllConnections();
  await all;
}

export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
