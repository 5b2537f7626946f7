/** PEM as Go's encoding/pem reads and writes it (RFC 7468, with the leniency that clients rely on). */

export interface PemBlock {
  /** The label, e.g. `CERTIFICATE`. */
  readonly type: string;
  /** Whether there were `Key: value` lines before the data. */
  readonly hasHeaders: boolean;
  readonly bytes: Buffer;
}

const begin = Buffer.from('-----BEGIN ');
/** Includes the preceding line feed: an END line counts only at the start of a line. */
const end = Buffer.from('\n-----END ');
const dashes = '-----';
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const tab = 0x09;
const colon = 0x3a;

/** A line without its line break and trailing blanks, as offsets; `next` is where the following line starts. */
function lineAt(data: Buffer, at: number): { readonly end: number; readonly next: number } {
  const feed = data.indexOf(lineFeed, at);
  const next = feed < 0 ? data.length : feed + 1;
  let stop = feed < 0 ? data.length : feed;
  if (feed > at && data[stop - 1] === carriageReturn) stop--;
  while (stop > at && (data[stop - 1] === space || data[stop - 1] === tab)) stop--;
  return { end: stop, next };
}

const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Decodes standard base64 with padding; blanks and line breaks are skipped. Returns undefined for anything else. */
function decodeBase64(data: Buffer): Buffer | undefined {
  const text = data.toString('latin1').replace(/[ \t\r\n]+/g, '');
  return text.length % 4 === 0 && base64.test(text) ? Buffer.from(text, 'base64') : undefined;
}

interface FoundBlock {
  readonly block: PemBlock;
  readonly next: number;
}

/**
 * Returns the block in the lines between `from` and the END line at `endAt`; otherwise the offset to continue at (-1 if
 * there can be no block).
 */
function blockBefore(data: Buffer, from: number, endAt: number): FoundBlock | number {
  const trailer = endAt + end.length;
  const beginAt = data.subarray(from, endAt).lastIndexOf(begin);
  if (beginAt < 0) return trailer;
  const beginsLine = beginAt === 0 || data[from + beginAt - 1] === lineFeed;
  if (!beginsLine) return trailer;

  const labelAt = from + beginAt + begin.length;
  const labelLine = lineAt(data, labelAt);
  const label = data.subarray(labelAt, labelLine.end).toString('latin1');
  let at = labelLine.next;
  if (!label.endsWith(dashes)) return trailer < at ? -1 : trailer;
  const type = label.slice(0, -dashes.length);

  let hasHeaders = false;
  for (;;) {
    if (at >= data.length) return -1;
    const line = lineAt(data, at);
    if (!data.subarray(at, line.end).includes(colon)) break;
    hasHeaders = true;
    at = line.next;
  }
  const again = trailer < at ? -1 : trailer;
  if (again < 0 || (hasHeaders && endAt < at)) return again;

  const closing = `${type}${dashes}`;
  if (data.subarray(trailer, trailer + closing.length).toString('latin1') !== closing) return again;
  const afterClosing = trailer + closing.length;
  if (lineAt(data, afterClosing).end !== afterClosing) return again;
  const bytes = endAt > at ? decodeBase64(data.subarray(at, endAt)) : Buffer.alloc(0);
  if (bytes === undefined) return again;
  return {
    block: { type: Buffer.from(type, 'latin1').toString('utf8'), hasHeaders, bytes },
    next: lineAt(data, trailer - 1).next,
  };
}

/** Returns the next intact block from an offset; broken ones and text in between are skipped. */
function nextBlock(data: Buffer, offset: number): FoundBlock | undefined {
  for (let from = offset; from >= 0 && from <= data.length; ) {
    const endAt = data.indexOf(end, from);
    if (endAt < 0) return undefined;
    const found = blockBefore(data, from, endAt);
    if (typeof found !== 'number') return found;
    from = found;
  }
  return undefined;
}

const asBuffer = (data: Uint8Array | string): Buffer =>
  typeof data === 'string' ? Buffer.from(data) : Buffer.from(data.buffer, data.byteOffset, data.byteLength);

/** Returns the first intact block; undefined if there is none. Takes linear time. */
export const firstPemBlock = (data: Uint8Array | string): PemBlock | undefined => nextBlock(asBuffer(data), 0)?.block;

/** Yields every intact block; returns the number of bytes left after them. Takes linear time. */
export function* pemBlocks(data: Uint8Array | string): Generator<PemBlock, number> {
  const buffer = asBuffer(data);
  let at = 0;
  for (let found = nextBlock(buffer, 0); found !== undefined; found = nextBlock(buffer, at)) {
    at = found.next;
    yield found.block;
  }
  return buffer.length - at;
}

/** Returns the certificates in DER, in order. Blocks of other types, and those with headers, are skipped. */
export const certificateBlocks = (pem: Uint8Array | string): readonly Buffer[] =>
  [...pemBlocks(pem)].filter(({ type, hasHeaders }) => type === 'CERTIFICATE' && !hasHeaders).map(({ bytes }) => bytes);

/** Returns the PEM blocks of certificates given in DER. */
export const encodeCertificates = (certificates: readonly Uint8Array[]): string =>
  certificates.map((der) => encodePem('CERTIFICATE', der)).join('');

/** Returns one block: lines of 64 characters, with a line feed after each. */
export function encodePem(type: string, der: Uint8Array): string {
  const text = asBuffer(der).toString('base64');
  let lines = '';
  for (let at = 0; at < text.length; at += 64) lines += `${text.slice(at, at + 64)}\n`;
  return `-----BEGIN ${type}-----\n${lines}-----END ${type}-----\n`;
}
