import { constants, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { streamResetLimit } from './connection-limits.js';
import { endBetweenReads } from './session-ends.js';

/** The state of an HTTP/2 connection: the number of requests being answered, and when the last one ended (milliseconds). */
interface SessionState {
  readonly socket: Socket;
  running: number;
  since: number;
  /** The number of streams that the client has reset, reduced over time at the permitted rate. */
  takenBack: number;
  forgiven: number;
  /** Whether the connection is being closed because of too many resets. */
  isRefused: boolean;
}

/** The HTTP/2 connections of a listener. */
export class Http2Sessions {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #sessions = new Map<Http2Session, SessionState>();

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Adds a session until its connection, `socket`, is closed. */
  add(session: Http2Session, socket: Socket): void {
    endBetweenReads(session);
    this.#sessions.set(session, this.#newState(socket));
    socket.once('close', () => this.#sessions.delete(session));
    session.on('error', ignore);
  }

  /** Counts a stream of a session as running. Returns a function to call when it has ended. */
  counted(stream: ServerHttp2Stream): (() => void) | undefined {
    const { session } = stream;
    const state = session === undefined ? undefined : this.#sessions.get(session);
    if (session === undefined || state === undefined) return undefined;
    state.running++;
    stream.on('close', () => {
      // Also counts streams that were reset after their response was written (rapid reset).
      if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) this.#countTakenBack(state, session);
    });
    return () => {
      state.running--;
      state.since = this.#clock.monotonic();
    };
  }

  #newState(socket: Socket): SessionState {
    const now = this.#clock.monotonic();
    return { socket, running: 0, since: now, takenBack: 0, forgiven: now, isRefused: false };
  }

  /** Counts a stream reset by the client, and ends its connection if there are too many (CVE-2023-44487). */
  #countTakenBack(state: SessionState, session: Http2Session): void {
    const now = this.#clock.monotonic();
    const forgiven = ((now - state.forgiven) / 1_000) * streamResetLimit.perSecond;
    state.takenBack = Math.max(0, state.takenBack - forgiven) + 1;
    state.forgiven = now;
    if (state.takenBack <= streamResetLimit.atOnce || state.isRefused) return;
    state.isRefused = true;
    this.#log.warn({ remoteAddress: session.socket.remoteAddress }, 'connection closed: too many cancelled requests');
    session.destroy(new Error('too many cancelled requests'), constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  /** Closes the sessions that have had no request for this long. */
  closeIdle(idleMs: number): void {
    const now = this.#clock.monotonic();
    for (const [session, { socket, running, since }] of this.#sessions) {
      if (running > 0 || now - since < idleMs) continue;
      // Node.js 20 waits for ever for a last write if the client is gone by then.
      if (session.destroyed) socket.destroy();
      // A session that is closing and still open has responses that the client does not read.
      else if (session.closed) session.destroy();
      else session.close();
    }
  }

  /** Closes all sessions once their requests are answered. */
  close(): void {
    for (const session of this.#sessions.keys()) session.close();
  }

  /** Destroys all sessions. */
  destroy(): void {
    for (const session of this.#sessions.keys()) session.destroy();
  }
}

const ignore = (): void => {};
