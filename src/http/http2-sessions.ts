import { constants, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { streamResetLimit } from './connection-limits.js';
import { endBetweenReads } from './session-ends.js';

/** An HTTP/2 connection: requests that are being answered, and when the last of them was (milliseconds). */
interface SessionState {
  running: number;
  since: number;
  /** Requests that the caller took back, less those that are forgiven by now. */
  takenBack: number;
  forgiven: number;
  /** It ends because of them. */
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

  /** One more, until it closes. */
  add(session: Http2Session): void {
    endBetweenReads(session);
    this.#sessions.set(session, this.#newState());
    session.once('close', () => this.#sessions.delete(session));
    session.on('error', ignore);
  }

  /** Counts a stream among those of its session until what is returned is called. */
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

  #newState(): SessionState {
    const now = this.#clock.monotonic();
    return { running: 0, since: now, takenBack: 0, forgiven: now, isRefused: false };
  }

  /** Ends connections of callers who take back too many requests (CVE-2023-44487). */
  #countTakenBack(state: SessionState, session: Http2Session): void {
    const now = this.#clock.monotonic();
    const forgiven = ((now - state.forgiven) / 1_000) * streamResetLimit.perSecond;
    state.takenBack = Math.max(0, state.takenBack - forgiven) + 1;
    state.forgiven = now;
    if (state.takenBack <= streamResetLimit.atOnce || state.isRefused) return;
    state.isRefused = true;
    this.#log.warn({ remoteAddress: session.socket.remoteAddress }, 'connection ended: too many requests taken back');
    session.destroy(new Error('too many requests taken back'), constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  /** Tells those to go on which nothing was asked for so long. */
  closeIdle(idleMs: number): void {
    const now = this.#clock.monotonic();
    for (const [session, { running, since }] of this.#sessions) {
      if (running > 0 || now - since < idleMs) continue;
      // One that was told to go and stays has answers that nobody takes.
      if (session.closed) session.destroy();
      else session.close();
    }
  }

  /** Tells all to go once they are answered. */
  close(): void {
    for (const session of this.#sessions.keys()) session.close();
  }

  /** Cuts off all. */
  destroy(): void {
    for (const session of this.#sessions.keys()) session.destroy();
  }
}

const ignore = (): void => {};
