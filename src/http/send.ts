import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { Body } from '../apiserver/represent.js';
import type { Exchange, OutgoingHeaders } from './exchange.js';

/** Responses larger than this are compressed for callers that accept it. */
const gzipAbove = 131_072;

/** Sends a complete response, compressed if it is long and the caller accepts gzip. Returns the number of bytes. */
export function send(
  exchange: Exchange,
  code: number,
  headers: OutgoingHeaders,
  body: Body,
  { deadline, compressible = true }: { readonly deadline: number | undefined; readonly compressible?: boolean },
): number | Promise<number> {
  const { length } = body;
  if (compressible && length > gzipAbove && acceptsGzip(exchange.header('accept-encoding'))) {
    return sendCompressed(exchange, code, headers, body, deadline);
  }
  // A 304 has no Content-Length, because the document itself is not empty.
  if (code !== 304) headers['Content-Length'] = length;
  return exchange.send(code, headers, body, deadline)?.then(() => length) ?? length;
}

/**
 * Sends a response with gzip and resolves with the number of bytes. Compression runs on another thread, no faster than
 * the caller reads.
 */
export async function sendCompressed(
  exchange: Exchange,
  code: number,
  headers: OutgoingHeaders,
  { chunks }: Body,
  deadline?: number,
): Promise<number> {
  let length = 0;
  const compressed = pipeline(Readable.from(chunks), createGzip({ level: 1 }), () => {});
  async function* counted(): AsyncGenerator<Buffer, void> {
    for await (const chunk of compressed as AsyncIterable<Buffer>) {
      length += chunk.length;
      yield chunk;
    }
  }
  const more = { 'Content-Encoding': 'gzip' };
  await exchange.send(code, { Vary: 'Accept-Encoding', ...headers, ...more }, { chunks: counted() }, deadline);
  return length;
}

/** Whether gzip is accepted. An entry with a weight, even `q=0`, does not count, as in Kubernetes. */
const acceptsGzip = (header: string | undefined): boolean =>
  header?.split(',').some((part) => part.trim() === 'gzip') ?? false;
