import type { HttpTransport } from '../../client/http-transport.js';
import type { Clock } from '../../runtime/clock.js';
import { auditList } from './audit-event.js';
import type { AuditBackend } from './audit-log.js';

export interface AuditWebhookOptions {
  /** The connection to the server that events are posted to, from a kubeconfig. */
  readonly transport: Pick<HttpTransport, 'send' | 'close'>;
  readonly clock: Clock;
  /** How long events wait for others of the same batch, in milliseconds. */
  readonly waitMs: number;
  /** Called with the number of events that could not be sent, and the reason. */
  readonly onFailure: (error: unknown, lost: number) => void;
}

/** The limits are those of kube-apiserver; only the limit on bytes is additional. */
const eventsAtOnce = 400;
const mostEvents = 10_000;
const mostBytes = 64 * 1_048_576;
const bytesAtOnce = 8 * 1_048_576;
const maxTries = 5;
const firstRestMs = 10_000;
const timeoutMs = 30_000;
/** The size up to which a response is read to its end, so that its connection can be reused. */
const bytesPassedOver = 65_536;

/**
 * Posts events to a remote server, as an EventList of `audit.k8s.io/v1`: up to 400 events or 8 MiB in a batch, which is
 * sent when it is full or some time after its first event. A request is tried up to five times, at growing intervals
 * that begin with ten seconds; then its events are lost. Up to 10,000 events, or 64 MiB of them, can wait meanwhile.
 */
export class AuditWebhook implements AuditBackend {
  readonly plugin = 'webhook';
  readonly #options: AuditWebhookOptions;
  readonly #closing = new AbortController();
  #events: string[] = [];
  #bytes = 0;
  #sending: Promise<void> | undefined;
  /** Ends the wait for further events. */
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
        // When closing, the remaining events are given up at the first failure.
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
    const end = this.#events.findIndex((event, at) => {
      bytes += event.length;
      return at === eventsAtOnce || (at > 0 && bytes > bytesAtOnce);
    });
    const batch = this.#events.splice(0, end < 0 ? this.#events.length : end);
    for (const event of batch) this.#bytes -= event.length;
    return batch;
  }

  async #report(batch: readonly string[]): Promise<void> {
    const body = auditList(batch);
    for (let attempt = 1, restMs = firstRestMs; ; attempt++, restMs *= 1.5) {
      try {
        return await this.#post(body);
      } catch (error) {
        // When closing, requests are not repeated.
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
    const { statusCode = 0, headers: received } = answer;
    // The content is not used and may be endless.
    if (Number(received['content-length'] ?? Number.POSITIVE_INFINITY) <= bytesPassedOver) answer.resume();
    else answer.destroy();
    if (statusCode < 200 || statusCode > 299) throw new Error(`the server answered ${statusCode}`);
  }
}
