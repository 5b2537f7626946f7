import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Clock, shutdownClock } from '../runtime/clock.js';
import { listenFailure } from '../runtime/listen-failure.js';

/** Time limits for headers and for whole requests, checked every second. */
export const requestLimits = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 1_000,
} as const;

/**
 * The time after its opening, in milliseconds, in which a connection may still send its first request while the
 * listener is closing: its client cannot know about that yet.
 */
const newMs = 1_000;

interface Connection {
  /** The socket below TLS. */
  readonly socket: Socket;
  /** Set until the first request; a new connection is kept until this time. */
  newUntil: number | undefined;
  /** The number of requests in progress. */
  requests: number;
}

/** Opens and closes the port of a runnable that serves HTTP or HTTPS. */
export class HttpListener {
  readonly #server: Server;
  readonly #clock: Clock;
  /** The connections, by the addresses of both ends. */
  readonly #connections = new Map<string, Connection>();
  #isClosing = false;

  constructor(server: Server, clock: Clock) {
    this.#server = server;
    this.#clock = shutdownClock(clock);
    server.on('connection', (socket: Socket) => {
      const key = peerOf(socket);
      this.#connections.set(key, { socket, newUntil: this.#clock.monotonic() + newMs, requests: 0 });
      socket.once('close', () => this.#connections.delete(key));
    });
    server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const connection = this.#connections.get(peerOf(socket));
      if (connection === undefined) return;
      connection.newUntil = undefined;
      connection.requests++;
      response.once('close', () => {
        connection.requests--;
        if (this.#isClosing && connection.requests === 0) socket.destroySoon();
      });
    });
  }

  /** Resolves with the port once connections are accepted; rejects if the port is not available. */
  async open({ host, port }: { readonly host: string | undefined; readonly port: number }): Promise<number> {
    const server = this.#server;
    await new Promise<void>((resolve, reject) => {
      const fail = (error: Error): void => reject(listenFailure(error, host, port));
      server.once('error', fail);
      server.listen(port, host, () => {
        server.off('error', fail);
        resolve();
      });
    });
    return (server.address() as AddressInfo).port;
  }

  /**
   * Ends idle connections, new ones a second after they were opened; waits at most `graceMs` for requests in progress,
   * then closes their connections.
   */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    const ended = new AbortController();
    const all = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const isOver = Promise.race([all, this.#clock.sleep(graceMs, ended.signal)]);
    const now = this.#clock.monotonic();
    this.#endIdle(({ newUntil = 0 }) => newUntil <= now);
    await Promise.race([isOver, this.#clock.sleep(Math.min(newMs, graceMs), ended.signal)]);
    this.#endIdle(() => true);
    await isOver;
    ended.abort();
    for (const { socket } of this.#connections.values()) socket.destroy();
    await all;
  }

  #endIdle(isMeant: (connection: Connection) => boolean): void {
    for (const connection of this.#connections.values())
      if (connection.requests === 0 && isMeant(connection)) connection.socket.destroy();
  }
}

const peerOf = ({ remoteAddress, remotePort, localAddress }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress}`;
