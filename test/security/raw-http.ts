import { connect as connectTcp } from 'node:tls';
import { frame, framesIn, literal, preface } from '../http/frames.js';

/** Requests that no honest client would send: unchecked bytes over TLS. */

export interface RawOptions {
  readonly url: string;
  readonly certificate?: { readonly cert: string; readonly key: string };
}

const patienceMs = 60_000;

/** Sends bytes; returns what is received until the peer closes the connection or sends nothing more. */
export function exchange(
  bytes: Buffer,
  { url, certificate }: RawOptions,
  protocol: 'http/1.1' | 'h2',
): Promise<Buffer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let silence: NodeJS.Timeout | undefined;
    const done = (): void => {
      clearTimeout(silence);
      socket.destroy();
      resolve(Buffer.concat(chunks));
    };
    const wait = (milliseconds: number): void => {
      clearTimeout(silence);
      silence = setTimeout(done, milliseconds);
    };
    const socket = connectTcp(
      { host: hostname, port: Number(port), ALPNProtocols: [protocol], rejectUnauthorized: false, ...certificate },
      () => socket.write(bytes),
    );
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      wait(150);
    });
    socket.on('close', done);
    socket.on('error', (error) => (chunks.length > 0 ? done() : reject(error)));
    wait(patienceMs);
  });
}

/** Sends an HTTP/1.1 request with these lines. Returns the status codes of all responses, in order. */
export async function rawHttp1(lines: readonly string[], options: RawOptions, body = ''): Promise<readonly number[]> {
  const answer = await exchange(Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1'), options, 'http/1.1');
  return [...answer.toString('latin1').matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, code]) => Number(code));
}

export type Http2Answer =
  | { readonly code: number }
  /** The peer reset the stream or closed the connection. */
  | 'broken off';

/** Sends a request over HTTP/2 with exactly these headers, including pseudo-headers. */
export async function rawHttp2(
  headers: readonly (readonly [name: string, value: string])[],
  options: RawOptions,
): Promise<Http2Answer> {
  const endStreamAndHeaders = 0x5;
  const block = Buffer.concat(headers.map(([name, value]) => literal(name, value)));
  const bytes = Buffer.concat([preface, frame(1, endStreamAndHeaders, 1, block)]);
  for (const { type, stream, payload } of framesIn(await exchange(bytes, options, 'h2'))) {
    if (type === 1 && stream === 1) return { code: statusIn(payload) };
    if (type === 3 && stream === 1) return 'broken off';
  }
  return 'broken off';
}

/** Reads `:status`, the first header of a response: one of the static table, or a literal (RFC 7541, appendix A). */
function statusIn(block: Buffer): number {
  const known: Readonly<Record<number, number>> = { 8: 200, 9: 204, 10: 206, 11: 304, 12: 400, 13: 404, 14: 500 };
  const first = block.readUInt8(0);
  if (first & 0x80) return known[first & 0x7f] ?? 0;
  const length = block.readUInt8(1);
  const text = block.subarray(2, 2 + (length & 0x7f));
  return length & 0x80 ? digitsOf(text) : Number(text.toString('latin1'));
}

/** Decodes digits in Huffman code: `0`, `1` and `2` have five bits, the others six (RFC 7541, appendix B). */
function digitsOf(bytes: Buffer): number {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  let digits = '';
  for (let at = 0; digits.length < 3; ) {
    const five = Number.parseInt(bits.slice(at, at + 5), 2);
    if (five < 3) {
      digits += five;
      at += 5;
    } else {
      digits += Number.parseInt(bits.slice(at, at + 6), 2) - 0x19 + 3;
      at += 6;
    }
  }
  return Number(digits);
}
