import { setMaxListeners } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../runtime/clock.js';
import type { CredentialSource } from './cluster-access.js';
import { isConnectionReset } from './connection-reset.js';
import type { HttpRequest, HttpTransport } from './http-transport.js';
import { type OnWarning, warningTexts } from './warnings.js';

const maxTries = 6;
const maxWaitMs = 30_000;

/** Sends requests, with retries. */
export class HttpSender {
  readonly #transport: HttpTransport;
  readonly #credentials: CredentialSource;
  readonly #clock: Clock;
  readonly #closing = new AbortController();

  constructor(
    transport: HttpTransport,
    { credentials, clock }: { readonly credentials: CredentialSource; readonly clock: Clock },
  ) {
    this.#transport = transport;
    this.#credentials = credentials;
    this.#clock = clock;
    // Every request that waits for a retry adds a listener.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Sends a request, again with new credentials after a 401, and again later if the server asks for that (Retry-After). */
  async send(request: HttpRequest, onWarning?: OnWarning): Promise<IncomingMessage> {
    let renewed = false;
    for (let tries = 1; ; tries++) {
      const { answer, presented } = await this.#reach(request);
      const renews: boolean = answer.statusCode === 401 && !renewed && this.#credentials.refused(presented);
      const waitMs = renews ? 0 : tries < maxTries ? askedToWait(answer) : undefined;
      if (waitMs === undefined) {
        if (onWarning !== undefined) for (const text of warningTexts(answer.headers.warning)) onWarning(text);
        return answer;
      }
      renewed ||= renews;
      answer.resume();
      if (waitMs > 0) await this.#pause(waitMs, request.signal);
    }
  }

  /**
   * Sends a request, and once more if its kept-alive connection turns out to be closed and the request cannot have had
   * an effect.
   */
  async #reach(request: HttpRequest): ReturnType<HttpTransport['send']> {
    try {
      return await this.#transport.send(request);
    } catch (error) {
      if (request.method !== 'GET' || !isConnectionReset(error)) throw error;
      return this.#transport.send(request);
    }
  }

  /** Waits before a retry. Ends early if the request is aborted or the client closed; sending then fails. */
  #pause(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
    const closing = this.#closing.signal;
    return this.#clock.sleep(waitMs, signal === undefined ? closing : AbortSignal.any([signal, closing]));
  }

  /** Ends all waits for retries. */
  close(): void {
    this.#closing.abort();
  }
}

/** Returns the milliseconds that the server asks to wait before a retry. */
function askedToWait({ statusCode = 0, headers }: IncomingMessage): number | undefined {
  if (statusCode !== 429 && statusCode < 500) return undefined;
  const seconds = Number(headers['retry-after']);
  return headers['retry-after'] === undefined || !(seconds >= 0) ? undefined : Math.min(maxWaitMs, seconds * 1_000);
}
