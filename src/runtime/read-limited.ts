import { createReadStream } from 'node:fs';

/** The maximum size of certificates, keys, tokens, policies and kubeconfigs; a larger file was specified by mistake. */
const mostBytes = 16 * 1_048_576;

/** Reads a file as `readFile` does, but fails if it is larger than 16 MiB or never ends. */
export async function readLimited(path: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of createReadStream(path, { end: mostBytes, highWaterMark: 1_048_576 })) {
    chunks.push(chunk);
    size += chunk.length;
  }
  if (size > mostBytes) throw new Error(`it is larger than ${mostBytes} bytes`);
  return Buffer.concat(chunks);
}

/** Like `readLimited`, but returns text. */
export const readLimitedText = async (path: string): Promise<string> => (await readLimited(path)).toString('utf8');
