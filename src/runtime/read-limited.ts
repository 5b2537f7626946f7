import { createReadStream } from 'node:fs';

/** Certificates, keys, tokens, policies, kubeconfigs: whatever is larger was named by mistake. */
const mostBytes = 16 * 1_048_576;

/** A file as a whole, as `readFile` reads it; but fails for one of more than 16 MiB, and for one that never ends. */
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

/** As `readLimited`, as text. */
export const readLimitedText = async (path: string): Promise<string> => (await readLimited(path)).toString('utf8');
