import type { ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Body } from '../apiserver/represent.js';
import type { StreamedBody } from './exchange.js';
import { PacedWriter, type WriteLimits } from './paced-writer.js';

/** Shorter bodies fit into the buffers of the system, so that they are not paced. */
const longAnswer = 65_536;

type Out = ServerResponse | ServerHttp2Stream;

/**
 * Writes a whole body; resolves when its last bytes were taken, at once (undefined) where it is short.
 * Of a long answer no more is made and kept than its reader takes. Whoever asks for much and does not read it loses the
 * answer after a while in which nothing moved, or when the time of the request is over.
 */
export function writeBody(body: Body | StreamedBody, out: Out, limits: WriteLimits): Promise<void> | undefined {
  if ('length' in body && body.length <= longAnswer) {
    const [first = Buffer.alloc(0), ...others] = body.chunks;
    out.end(others.length === 0 ? first : Buffer.concat([first, ...others]));
    return undefined;
  }
  return writeAll(body, out, limits);
}

async function writeAll({ chunks }: Body | StreamedBody, out: Out, limits: WriteLimits): Promise<void> {
  const writer = new PacedWriter(out, limits);
  for await (const chunk of chunks) {
    if (writer.isOver) return;
    if (!writer.write(chunk)) await writer.drained();
  }
  writer.end();
}
