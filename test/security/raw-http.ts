import { connect as connectTcp } from 'node:tls';

/** Requests no honest client would send: bytes over TLS, nothing checked. */

export interface RawOptions {
  readonly url: string;
  readonly certificate?: { readonly cert: string; readonly key: string };
}

const patienceMs = 5_000;

/** Sends bytes, answers what comes back until the peer closes or falls silent. */
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

/** An HTTP/1.1 request of these lines. Answers the status codes of all answers, in order. */
export async function rawHttp1(lines: readonly string[], options: RawOptions, body = ''): Promise<readonly number[]> {
  const answer = await exchange(Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1'), options, 'http/1.1');
  return [...answer.toString('latin1').matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, code]) => Number(code));
}

const frame = (type: number, flags: number, stream: number, payload: Buffer): Buffer => {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
};

/** A header as HPACK has it literally, without index and without Huffman code (RFC 7541 6.2.2). */
const literal = (name: string, value: string): Buffer => {
  const text = (of: string): Buffer => {
    const bytes = Buffer.from(of, 'latin1');
    if (bytes.length > 126) throw new Error('longer texts take more than one byte of length');
    return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  };
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
};

export type Http2Answer =
  | { readonly code: number }
  /** The peer broke off: by a reset of the stream, or by closing. */
  | 'broken off';

/** A request over HTTP/2 with exactly these headers, pseudo-headers included. */
export async function rawHttp2(
  headers: readonly (readonly [name: string, value: string])[],
  options: RawOptions,
): Promise<Http2Answer> {
  const endStreamAndHeaders = 0x5;
  const block = Buffer.concat(headers.map(([name, value]) => literal(name, value)));
  const bytes = Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame(4, 0, 0, Buffer.alloc(0)),
    frame(1, endStreamAndHeaders, 1, block),
  ]);
  const answer = await exchange(bytes, options, 'h2');
  for (let at = 0; at + 9 <= answer.length; ) {
    const length = answer.readUIntBE(at, 3);
    const type = answer.readUInt8(at + 3);
    const stream = answer.readUInt32BE(at + 5) & 0x7fffffff;
    const payload = answer.subarray(at + 9, at + 9 + length);
    if (type === 1 && stream === 1) return { code: statusIn(payload) };
    if (type === 3 && stream === 1) return 'broken off';
    at += 9 + length;
  }
  return 'broken off';
}

/** `:status` is the first header of an answer: one of the static table, or a literal (RFC 7541, appendix A). */
function statusIn(block: Buffer): number {
  const known: Readonly<Record<number, number>> = { 8: 200, 9: 204, 10: 206, 11: 304, 12: 400, 13: 404, 14: 500 };
  const first = block.readUInt8(0);
  if (first & 0x80) return known[first & 0x7f] ?? 0;
  const length = block.readUInt8(1);
  const text = block.subarray(2, 2 + (length & 0x7f));
  return length & 0x80 ? digitsOf(text) : Number(text.toString('latin1'));
}

/** Digits in Huffman code: `0`, `1` and `2` have five bits, the others six (RFC 7541, appendix B). */
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
