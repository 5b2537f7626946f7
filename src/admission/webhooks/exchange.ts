import type { IncomingMessage } from 'node:http';
import { type Agent, request as httpsRequest } from 'node:https';
import { maxResponseHeaders } from '../../client/http-transport.js';
import { setImmediate } from '../../runtime/event-loop.js';
import { connectionError } from './connection-errors.js';
import type { WebhookAddress } from './target.js';

/** A response with any status code. */
export interface WebhookResponse {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: Buffer;
}

/** The headers of a response that requests a redirect or a later retry. */
export interface RedirectOrRetry {
  readonly location?: string;
  readonly retryMs?: number;
}

/** The progress of a call; `answered` is set while the headers of the response have arrived and its body has not. */
export interface Progress {
  answered: boolean;
}
/** Returns the error text for a response whose body could not be read. */
export const unreadableBody = (message: string): string =>
  `unexpected error when reading response body. Please retry. Original error: ${message}`;

/** Thrown for a pooled connection that the server had closed or was closing, so that the request was not sent. */
export class StaleConnection extends Error {
  override readonly name = 'StaleConnection';
}
export class UnreadableBody extends Error {
  override readonly name = 'UnreadableBody';
}

/** One request to a webhook. */
export interface WebhookRequest {
  readonly address: WebhookAddress;
  /** The `Host` header of the request. */
  readonly authority: string;
  readonly path: string;
  readonly agent: Agent;
  readonly userAgent: string;
  readonly authorization: string | undefined;
  /** The body, in JSON. */
  readonly body: string;
  /** The maximum size of the response in bytes. */
  readonly maxBytes: number;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/**
 * Sends a request once and reads the response. Rejects with StaleConnection if the request was not sent, with
 * UnreadableBody, with the reason of the signal, or with the error of the connection.
 */
export function exchange(request: WebhookRequest): Promise<WebhookResponse & RedirectOrRetry> {
  const { address, authority, path, agent, userAgent, authorization, body, maxBytes, progress, signal } = request;
  progress.answered = false;
  return new Promise((resolve, reject) => {
    let isWritten = false;
    const request = httpsRequest(
      {
        agent,
        host: address.host,
        port: address.port,
        method: 'POST',
        path,
        signal,
        maxHeaderSize: maxResponseHeaders,
        headers: {
          host: authority,
          'user-agent': userAgent,
          ...(authorization === undefined ? {} : { authorization }),
          'content-type': 'application/json',
          accept: 'application/json, */*',
          'content-length': String(Buffer.byteLength(body)),
        },
      },
      (response) => {
        if (!isWritten) {
          // The response came before the request was sent, as from proxies that time out: it does not belong to this
          // request.
          request.destroy();
          reject(new StaleConnection('the connection was closed'));
          return;
        }
        progress.answered = true;
        read(response, maxBytes).then(
          (bytes) => {
            progress.answered = false;
            resolve(replyOf(response, bytes));
          },
          (error: unknown) => {
            request.destroy();
            reject(error);
          },
        );
      },
    );
    request.maxHeadersCount = 0;
    const write = (): void => {
      if (request.destroyed) return;
      isWritten = true;
      request.end(body);
    };
    request.on('socket', () => (request.reusedSocket ? afterReading(write) : write()));
    request.on('error', (error) => {
      const isStale = request.reusedSocket && !isWritten;
      reject(isStale ? new StaleConnection('the connection was closed', { cause: error }) : error);
    });
  });
}

/**
 * Runs `act` after everything received so far has been read, such as the end of a connection before it is written to.
 */
const afterReading = (act: () => void): void => void setImmediate(() => setImmediate(act));

async function read(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw new UnreadableBody(unreadableBody(response.complete ? connectionError(error) : 'unexpected EOF'), {
      cause: error,
    });
  }
  if (size > maxBytes) throw new UnreadableBody(`the response is larger than ${maxBytes} bytes`);
  return Buffer.concat(chunks);
}

function replyOf(
  { statusCode: status = 0, headers }: IncomingMessage,
  body: Buffer,
): WebhookResponse & RedirectOrRetry {
  const { location, 'retry-after': retryAfter = '' } = headers;
  const asksToWait = (status === 429 || status >= 500) && /^\d{1,6}$/.test(retryAfter);
  return {
    status,
    contentType: headers['content-type'],
    body,
    ...((status === 307 || status === 308) && location ? { location } : {}),
    ...(asksToWait ? { retryMs: Number(retryAfter) * 1_000 } : {}),
  };
}
