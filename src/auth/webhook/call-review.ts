import type { IncomingMessage } from 'node:http';
import { errorFromStatus } from '../../api/errors.js';
import { isObject } from '../../api/object.js';
import { isConnectionReset } from '../../client/connection-reset.js';
import type { HttpTransport } from '../../client/http-transport.js';
import type { Clock } from '../../runtime/clock.js';
import { type AuthorizationWebhookMetrics, resultOfFailure } from '../authorization-metrics.js';

/** Posts a review to a remote server and returns the `status` of the response. Fails if there is none. */
export type CallReview = (review: object) => Promise<Readonly<Record<string, unknown>>>;

export interface CallReviewOptions {
  /** The connection to the URL that reviews are posted to, which is exactly the server URL of a kubeconfig. */
  readonly transport: Pick<HttpTransport, 'send'>;
  readonly clock: Clock;
  /** The maximum duration of an attempt; ten seconds by default. */
  readonly timeoutMs?: number | undefined;
  /** Called after every attempt. */
  readonly called?: AuthorizationWebhookMetrics['called'] | undefined;
}

const usualTimeoutMs = 10_000;
const maxTries = 5;
/** The pause after the first attempt; each further pause is half as long again. */
const firstRestMs = 500;
const transientCodes: readonly number[] = [429, 500, 504];
const maxBytes = 1_048_576;

/**
 * Returns a function that posts reviews. Each attempt may take ten seconds by default. Transient failures are retried,
 * up to five attempts in total; others are reported at once.
 */
export function callReview(options: CallReviewOptions): CallReview {
  const { transport, clock, timeoutMs = usualTimeoutMs, called } = options;
  return async (review) => {
    const body = JSON.stringify(review);
    for (let attempt = 1, restMs = firstRestMs; ; attempt++, restMs *= 1.5) {
      const start = clock.monotonic();
      try {
        const status = await once(transport, body, timeoutMs);
        called?.('success', clock.monotonic() - start);
        return status;
      } catch (error) {
        called?.(resultOfFailure(error), clock.monotonic() - start);
        if (attempt >= maxTries || !(error instanceof TransientFailure)) throw error;
        await clock.sleep(restMs);
      }
    }
  };
}

class TransientFailure extends Error {
  override readonly name = 'TransientFailure';
}

async function once(
  transport: Pick<HttpTransport, 'send'>,
  body: string,
  timeoutMs: number,
): Promise<Readonly<Record<string, unknown>>> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const signal = AbortSignal.timeout(timeoutMs);
  const request = { method: 'POST', path: '', headers, body, signal };
  const { answer: response } = await transport.send(request).catch((error: unknown) => {
    if (isConnectionReset(error)) throw new TransientFailure(`webhook call failed: ${error.message}`, { cause: error });
    throw error;
  });
  const text = await textOf(response);
  const { statusCode = 0 } = response;
  // Go's client takes no other code for a success.
  if (statusCode < 200 || statusCode > 206) {
    const { message } = errorFromStatus(read(text), statusCode, `the server answered ${statusCode}`);
    const failure = `webhook call failed: ${message}`;
    if (transientCodes.includes(statusCode) || response.headers['retry-after'] !== undefined)
      throw new TransientFailure(failure);
    throw new Error(failure);
  }
  const answer = read(text);
  const status = isObject(answer) && isLike(read(body), answer) ? (answer['status'] ?? {}) : undefined;
  if (!isObject(status)) throw new Error('webhook call failed: the answer is not a review');
  return status;
}

function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether the response has the kind and version of the request, as far as it has any. */
const isLike = (sent: unknown, answer: Readonly<Record<string, unknown>>): boolean =>
  isObject(sent) && ['kind', 'apiVersion'].every((member) => (answer[member] || sent[member]) === sent[member]);

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    if (!Buffer.isBuffer(chunk)) continue;
    size += chunk.length;
    if (size > maxBytes) throw new Error(`webhook call failed: the answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
