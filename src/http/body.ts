import type { Readable } from 'node:stream';
import { type ApiError, entityTooLarge, timeout } from '../api/errors.js';
import { maxRequestBytes } from '../api/request-size.js';

/** Nobody hears it, and nothing of ours has failed. */
const brokenOff = (): ApiError => timeout('the connection was closed before the body was complete');

/** Requests know whether their caller has broken off. */
const isBrokenOff = (stream: Readable & { readonly aborted?: boolean }): boolean =>
  stream.destroyed || stream.aborted === true;

/**
 * The whole body, or RequestEntityTooLarge as soon as the limit is passed; what follows is not kept. One that is broken off
 * is never taken for whole: over HTTP/2 Node says `end` then, too, after it said `aborted`. `reading` is handed
 * what ends the reading when nobody waits for it any more: the caller may hold body and connection back for ever.
 */
export function readBody(
  stream: Readable,
  declaredLength: string | undefined,
  limit = maxRequestBytes,
  reading?: (giveUp: () => void) => void,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // One that is closed already says nothing more.
    if (isBrokenOff(stream)) return reject(brokenOff());
    const chunks: Buffer[] = [];
    let size = 0;
    const leave = (why: ApiError): void => {
      stream.off('data', onData);
      chunks.length = 0;
      stream.resume();
      reject(why);
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
      // An error is slow to make, and every stream closes.
      if (!ended) reject(brokenOff());
    });
  });
}
