import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Clock, endingClock } from '../runtime/clock.js';

/** How long headers may take, and whole requests: callers have to say something. Looked at every second. */
export const requestLimits = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 1_000,
} as const;

/**
 * So long after it was opened a connection may begin to ask when no more are taken, in milliseconds: who was let in just
 * before does not know.
 */
const newMs = 1_000;

/** How runnables that answer HTTP, with TLS or without, begin and end. */
export class HttpListener {
  readonly #server: Server;
  readonly #clock: Clock;
  /** Connections, before TLS looks at them, by who is at their ends. */
  readonly #sockets = new Map<string, Socket>();
  /** Those on which nothing was asked yet, and until when they count as new. */
  readonly #unasked = new Map<string, number>();
  /** Requests that are being answered, by connection. */
  readonly #busy = new Map<string, number>();
  #isClosing = false;

  constructor(server: Server, clock: Clock) {
    this.#server = server;
    this.#clock = endingClock(clock);
    server.on('connection', (socket: Socket) => {
      const key = peerOf(socket);
      this.#sockets.set(key, socket);
      this.#unasked.set(key, this.#clock.monotonic() + newMs);
      socket.once('close', () => {
        this.#sockets.delete(key);
        this.#unasked.delete(key);
        this.#busy.delete(key);
      });
    });
    server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const key = peerOf(socket);
      this.#unasked.delete(key);
      this.#count(key, 1);
      response.once('close', () => {
        this.#count(key, -1);
        if (this.#isClosing && !this.#busy.has(key)) socket.destroySoon();
      });
    });
  }

  /** Resolves with the port once connections are accepted; rejects if it cannot be had. */
  async open({ host, port }: { readonly host: string | undefined; readonly port: number }): Promise<number> {
    const server = this.#server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => {
        server.off('error', reject);
        resolve();
      });
    });
    return (server.address() as AddressInfo).port;
  }

  /**
   * Ends connections on which nothing is being answered, new ones a second after they were opened, lets requests end for
   * so long at most, then cuts them off.
   */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    const over = new AbortController();
    const all = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const isOver = Promise.race([all, this.#clock.sleep(graceMs, over.signal)]);
    const now = this.#clock.monotonic();
    this.#endIdle((until) => until <= now);
    await Promise.race([isOver, this.#clock.sleep(Math.min(newMs, graceMs), over.signal)]);
    this.#endIdle(() => true);
    await isOver;
    over.abort();
    for (const socket of this.#sockets.values()) socket.destroy();
    await all;
  }

  /** `isOld`: whether one that counts as new until then is ended, too. */
  #endIdle(isOld: (until: number) => boolean): void {
    for (const [key, socket] of this.#sockets)
      if (!this.#busy.has(key) && isOld(this.#unasked.get(key) ?? 0)) socket.destroy();
  }

  #count(key: string, change: number): void {
    const count = (this.#busy.get(key) ?? 0) + change;
    if (count > 0) this.#busy.set(key, count);
    else this.#busy.delete(key);
  }
}

const peerOf = ({ remoteAddress, remotePort, localAddress }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress}`;
