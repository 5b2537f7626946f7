import { isIPv4, isIPv6 } from 'node:net';

/** Converts IP addresses between bytes (4 or 16) and text. */

const mappedPrefix = Buffer.from('00000000000000000000ffff', 'hex');

const isMapped = (bytes: Buffer): boolean => bytes.length === 16 && bytes.subarray(0, 12).equals(mappedPrefix);

/** Formats 4 or 16 bytes: IPv4 mapped into IPv6 as IPv4, other IPv6 by RFC 5952. */
export function ipText(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.');
  if (isMapped(bytes)) return bytes.subarray(12).join('.');
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(2 * at).toString(16));
  const { start, length } = longestZeros(groups);
  if (length < 2) return groups.join(':');
  return `${groups.slice(0, start).join(':')}::${groups.slice(start + length).join(':')}`;
}

/** Returns the first of the longest runs of zero groups. */
function longestZeros(groups: readonly string[]): { readonly start: number; readonly length: number } {
  let best = { start: 0, length: 0 };
  for (let at = 0; at < groups.length; at++) {
    const from = at;
    while (groups[at] === '0') at++;
    if (at - from > best.length) best = { start: from, length: at - from };
  }
  return best;
}

/**
 * Parses an address into 4 bytes for IPv4 (also mapped into IPv6) or 16 for IPv6; undefined if invalid. Zones are not
 * allowed.
 */
export function ipBytes(text: string): Buffer | undefined {
  if (isIPv4(text)) return Buffer.from(text.split('.').map(Number));
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const dotted = /[^:]+\.[^:]+$/.exec(text)?.[0];
  const tail = dotted === undefined ? undefined : ipBytes(dotted);
  const plain =
    tail === undefined || dotted === undefined
      ? text
      : `${text.slice(0, -dotted.length)}${tail.readUInt16BE(0).toString(16)}:${tail.readUInt16BE(2).toString(16)}`;
  const [head = '', trailing] = plain.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = trailing === undefined || trailing === '' ? [] : trailing.split(':');
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  const bytes = Buffer.alloc(16);
  for (const [at, group] of [...before, ...zeros, ...after].entries())
    bytes.writeUInt16BE(Number.parseInt(group, 16), 2 * at);
  return isMapped(bytes) ? bytes.subarray(12) : bytes;
}
