/** HTTP/2 frames (RFC 9113, section 4.1), encoded and decoded by hand. */

export function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** The first bytes of a client, including its settings. */
export const preface = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0)]);

/** Returns a header as an HPACK literal, without index and without Huffman code (RFC 7541 6.2.2). */
export function literal(name: string, value: string): Buffer {
  const text = (of: string): Buffer => {
    const bytes = Buffer.from(of, 'latin1');
    if (bytes.length > 126) throw new Error('longer texts take more than one byte of length');
    return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  };
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

export interface Frame {
  readonly type: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** Returns the frames that a server sent; the last may be incomplete. */
export function framesIn(bytes: Buffer): readonly Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at + 9 <= bytes.length; ) {
    const end = at + 9 + bytes.readUIntBE(at, 3);
    const stream = bytes.readUInt32BE(at + 5) & 0x7fffffff;
    frames.push({ type: bytes.readUInt8(at + 3), stream, payload: bytes.subarray(at + 9, end) });
    at = end;
  }
  return frames;
}
