import type { Readable } from 'node:stream';
import { type ApiError, entityTooLarge, timeout } from '../api/errors.js';
import { maxRequestBytes } from '../api/request-size.js';

/** Returns the error for a closed connection. No caller receives it, and it does not count as a fault of the server. */
const brokenOff = (): ApiError => timeout('the connection was closed before the body was complete');

/** Whether the caller has aborted the request. Only requests have `aborted`. */
const isBrokenOff = (stream: Readable & { readonly aborted?: boolean }): boolean =>
  stream.destroyed || stream.aborted === true;

/**
 * Returns the whole body. Throws RequestEntityTooLarge as soon as the limit is exceeded; the rest is not kept. An
 * aborted body is never returned as complete, although over HTTP/2 Node.js emits `end` even then, after `aborted`.
 * `reading` receives a function that ends the reading when its result is no longer needed, because the caller may never
 * send the rest of the body.
 */
export function readBody(
  stream: Readable,
  declaredLength: string | undefined,
  limit = maxRequestBytes,
  reading?: (giveUp: () => void) => void,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // A closed stream emits no more events.
    if (isBrokenOff(stream)) return reject(brokenOff());
    const chunks: Buffer[] = [];
    let size = 0;
    const leave = (error: ApiError): void => {
      stream.off('data', onData);
      chunks.length = 0;
      stream.resume();
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) leave(entityTooLarge(`limit is ${limit}`));
      else chunks.push(chunk);
    };
    if (declaredLength !== undefined && Number(declaredLength) > limit) {
      leave(entityTooLarge(`limit is ${limit}`));
      return;
    }
    stream.on('data', onData);
    stream.once('aborted', () => leave(brokenOff()));
    reading?.(() => leave(brokenOff()));
    let ended = false;
    stream.once('end', () => {
      ended = true;
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
    stream.once('error', () => reject(brokenOff()));
    stream.once('close', () => {
      // Creating an error is slow, and every stream emits `close`.
      if (!ended) reject(brokenOff());
    });
  });
}
