import type { HttpTransport } from '../../client/http-transport.js';
import type { Clock } from '../../runtime/clock.js';
import { auditList } from './audit-event.js';
import type { AuditBackend } from './audit-log.js';

export interface AuditWebhookOptions {
  /** Where events are posted: the server of a kubeconfig. */
  readonly transport: Pick<HttpTransport, 'send' | 'close'>;
  readonly clock: Clock;
  /** How long events wait for more to come, in milliseconds. */
  readonly waitMs: number;
  /** Told of events that could not be sent, and why. */
  readonly onFailure: (error: unknown, lost: number) => void;
}

/** As kube-apiserver has them, but for the bytes. */
const eventsAtOnce = 400;
const mostEvents = 10_000;
const mostBytes = 64 * 1_048_576;
const bytesAtOnce = 8 * 1_048_576;
const maxTries = 5;
const firstRestMs = 10_000;
const timeoutMs = 30_000;
/** A short answer is read, so that its connection can be used again. */
const bytesPassedOver = 65_536;

/**
 * Reports events to a server elsewhere, as an EventList of `audit.k8s.io/v1`: up to 400 or 8 MiB at once, or what has come a
 * while after the first. A failed request is made five times in all, with longer and longer rests from ten seconds on; its events
 * are lost then. 10,000 events, or 64 MiB of them, may wait meanwhile.
 */
export class AuditWebhook implements AuditBackend {
  readonly plugin = 'webhook';
  readonly #options: AuditWebhookOptions;
  readonly #closing = new AbortController();
  #events: string[] = [];
  #bytes = 0;
  #sending: Promise<void> | undefined;
  /** Ends the wait for more. */
  #full: AbortController | undefined;

  constructor(options: AuditWebhookOptions) {
    this.#options = options;
  }

  write(event: string): boolean {
    const isFull = this.#events.length >= mostEvents || this.#bytes + event.length > mostBytes;
    if (isFull || this.#closing.signal.aborted) return false;
    this.#events.push(event);
    this.#bytes += event.length;
    if (this.#fillRequest()) this.#full?.abort();
    this.#sending ??= this.#send();
    return true;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#full?.abort();
    await this.#sending;
    this.#options.transport.close();
  }

  async #send(): Promise<void> {
    const { clock, waitMs, onFailure } = this.#options;
    while (this.#events.length > 0) {
      if (!this.#fillRequest() && !this.#closing.signal.aborted) {
        this.#full = new AbortController();
        await clock.sleep(waitMs, this.#full.signal);
      }
      const batch = this.#take();
      await this.#report(batch).catch((error: unknown) => {
        // Who is to stop does not wait for each of the others to fail.
        const more = this.#closing.signal.aborted ? this.#events.splice(0).length : 0;
        onFailure(error, batch.length + more);
      });
    }
    this.#sending = undefined;
  }

  #fillRequest(): boolean {
    return this.#events.length >= eventsAtOnce || this.#bytes >= bytesAtOnce;
  }

  #take(): readonly string[] {
    let bytes = 0;
    const over = this.#events.findIndex((event, at) => {
      bytes += event.length;
      return at === eventsAtOnce || (at > 0 && bytes > bytesAtOnce);
    });
    const batch = this.#events.splice(0, over < 0 ? this.#events.length : over);
    for (const event of batch) this.#bytes -= event.length;
    return batch;
  }

  async #report(batch: readonly string[]): Promise<void> {
    const body = auditList(batch);
    for (let attempt = 1, restMs = firstRestMs; ; attempt++, restMs *= 1.5) {
      try {
        return await this.#post(body);
      } catch (error) {
        // Who is to stop does not try again.
        if (attempt === maxTries || this.#closing.signal.aborted) throw error;
        await this.#options.clock.sleep(restMs, this.#closing.signal);
      }
    }
  }

  async #post(body: string): Promise<void> {
    const headers = { 'content-type': 'application/json', accept: 'application/json, */*' };
    const signal = AbortSignal.timeout(timeoutMs);
    const request = { method: 'POST', path: '?timeout=30s', headers, body, signal };
    const { answer } = await this.#options.transport.send(request);
    const { statusCode = 0, headers: told } = answer;
    // Nothing in it matters, and it may be endless.
    if (Number(told['content-length'] ?? Number.POSITIVE_INFINITY) <= bytesPassedOver) answer.resume();
    else answer.destroy();
    if (statusCode < 200 || statusCode > 299) throw new Error(`the server answered ${statusCode}`);
  }
}
