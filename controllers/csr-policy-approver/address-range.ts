import { ipBytes } from '../../src/api/ip-address.js';

/** A range of addresses with the same leading bits. */
export interface AddressRange {
  /** 4 or 16 bytes. */
  readonly bytes: Buffer;
  /** The number of leading bits. */
  readonly bits: number;
}

/**
 * Parses `10.0.0.0/8`, `fd00::/8`, or one address; returns undefined for anything else, and for a range with bits
 * beyond its length.
 */
export function parseRange(text: string): AddressRange | undefined {
  const [address = '', length, ...more] = text.split('/');
  const bytes = ipBytes(address);
  if (bytes === undefined || more.length > 0) return undefined;
  if (length === undefined) return { bytes, bits: bytes.length * 8 };
  if (!/^\d{1,3}$/.test(length) || Number(length) > bytes.length * 8) return undefined;
  const range = { bytes, bits: Number(length) };
  return sharesBits(bytes, masked(range), bytes.length * 8) ? range : undefined;
}

/** Whether an address, as text, is in the range. */
export function inRange({ bytes, bits }: AddressRange, address: string): boolean {
  const addressBytes = ipBytes(address);
  return addressBytes !== undefined && addressBytes.length === bytes.length && sharesBits(addressBytes, bytes, bits);
}

const masked = ({ bytes, bits }: AddressRange): Buffer =>
  bytes.map((byte, at) => byte & maskOf(bits - at * 8)) as Buffer;
const maskOf = (bits: number): number => (bits >= 8 ? 0xff : bits <= 0 ? 0 : (0xff << (8 - bits)) & 0xff);

function sharesBits(a: Buffer, b: Buffer, bits: number): boolean {
  return a.every((byte, at) => ((byte ^ (b[at] ?? 0)) & maskOf(bits - at * 8)) === 0);
}
