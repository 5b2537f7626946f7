import type { ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Body } from '../apiserver/represent.js';
import type { StreamedBody } from './exchange.js';
import { PacedWriter, type WriteLimits } from './paced-writer.js';

/** Shorter bodies fit into the system's buffers, so they are not paced. */
const longAnswer = 65_536;

type ResponseStream = ServerResponse | ServerHttp2Stream;

/**
 * Writes a whole body. Resolves when its last bytes were read; returns undefined for a short body, which is written
 * immediately. A long body is generated and buffered no faster than the caller reads. The response is aborted after a
 * time without progress, or at the deadline of the request.
 */
export function writeBody(
  body: Body | StreamedBody,
  out: ResponseStream,
  limits: WriteLimits,
): Promise<void> | undefined {
  if ('length' in body && body.length <= longAnswer) {
    const [first = Buffer.alloc(0), ...others] = body.chunks;
    out.end(others.length === 0 ? first : Buffer.concat([first, ...others]));
    return undefined;
  }
  return writeAll(body, out, limits);
}

async function writeAll({ chunks }: Body | StreamedBody, out: ResponseStream, limits: WriteLimits): Promise<void> {
  const writer = new PacedWriter(out, limits);
  for await (const chunk of chunks) {
    if (writer.isOver) return;
    if (!writer.write(chunk)) await writer.drained();
  }
  writer.end();
}
