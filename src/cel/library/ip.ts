import { parseAddress } from '../../api/go-ip.js';
import { quote } from '../../api/go-text.js';
import { ipText } from '../../api/ip-address.js';
import type { Library } from '../functions.js';
import { bool, int, opaque, string } from '../types.js';
import { Failure, type OpaqueValue } from '../values.js';
import { parsing } from './call-costs.js';
import { global, member } from './declarations.js';

/** IP addresses: Kubernetes' `net.ip` library. */

export const ipType = opaque('net.IP');

export interface IpValue extends OpaqueValue {
  /** The bytes of the address: 4 or 16. */
  readonly bytes: Buffer;
}

export const ipFrom = (bytes: Buffer): IpValue => ({
  kind: 'opaque',
  name: 'net.IP',
  bytes,
  size: bytes.length,
  equals: (other) => other.name === 'net.IP' && (other as IpValue).bytes.equals(bytes),
});

/** Parses an address; refuses zones, and IPv4 addresses written as IPv6. */
export function ipOf(text: string): IpValue | Failure {
  const address = parseAddress(text);
  if ('wrong' in address) {
    return new Failure(`IP Address ${quote(text)} parse error during conversion from string: ${address.wrong}`);
  }
  if (address.zone !== '') return new Failure(`IP address ${quote(text)} with zone value is not allowed`);
  return isMapped(address.bytes) ? mappedFailure(text) : ipFrom(address.bytes);
}

/** Whether the bytes are an IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2). */
export const isMapped = (bytes: Buffer): boolean =>
  bytes.length === 16 && bytes.readBigUInt64BE(0) === 0n && bytes.readUInt32BE(8) === 0xffff;

export const mappedFailure = (text: string): Failure =>
  new Failure(`IPv4-mapped IPv6 address ${quote(text)} is not allowed`);

const isIp = (text: string): boolean => !(ipOf(text) instanceof Failure);

function isCanonical(text: string): boolean | Failure {
  const address = ipOf(text);
  return address instanceof Failure ? address : ipText(address.bytes) === text;
}

const isFour = (bytes: Buffer): boolean => bytes.length === 4;
const firstGroup = (bytes: Buffer): number => bytes.readUInt16BE(0);
const isUnspecified = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0);
const isLoopback = (bytes: Buffer): boolean =>
  isFour(bytes) ? bytes[0] === 127 : bytes.every((byte, at) => byte === (at === 15 ? 1 : 0));
const isMulticast = (bytes: Buffer): boolean =>
  isFour(bytes) ? (firstGroup(bytes) & 0xf000) === 0xe000 : bytes[0] === 0xff;
const isLinkLocalMulticast = (bytes: Buffer): boolean =>
  isFour(bytes) ? firstGroup(bytes) === 0xe000 && bytes[2] === 0 : (firstGroup(bytes) & 0xff0f) === 0xff02;
const isLinkLocalUnicast = (bytes: Buffer): boolean =>
  isFour(bytes) ? firstGroup(bytes) === 0xa9fe : (firstGroup(bytes) & 0xffc0) === 0xfe80;
const isBroadcast = (bytes: Buffer): boolean => isFour(bytes) && bytes.every((byte) => byte === 0xff);
const isGlobalUnicast = (bytes: Buffer): boolean =>
  ![isBroadcast, isUnspecified, isLoopback, isMulticast, isLinkLocalUnicast].some((is) => is(bytes));

const question = (name: string, id: string, answer: (bytes: Buffer) => boolean) => ({
  name,
  overloads: [member(id, [ipType], bool, ({ bytes }: IpValue) => answer(bytes))],
});

export const ip: Library = {
  functions: [
    { name: 'ip', overloads: [global('string_to_ip', [string], ipType, ipOf, parsing())] },
    { name: 'isIP', overloads: [global('is_ip', [string], bool, isIp, parsing())] },
    { name: 'ip.isCanonical', overloads: [global('ip_is_canonical', [string], bool, isCanonical, parsing(2))] },
    {
      name: 'family',
      overloads: [member('ip_family', [ipType], int, ({ bytes }: IpValue) => (isFour(bytes) ? 4n : 6n))],
    },
    question('isUnspecified', 'ip_is_unspecified', isUnspecified),
    question('isLoopback', 'ip_is_loopback', isLoopback),
    question('isLinkLocalMulticast', 'ip_is_link_local_multicast', isLinkLocalMulticast),
    question('isLinkLocalUnicast', 'ip_is_link_local_unicast', isLinkLocalUnicast),
    question('isGlobalUnicast', 'ip_is_global_unicast', isGlobalUnicast),
    { name: 'string', overloads: [global('ip_to_string', [ipType], string, ({ bytes }: IpValue) => ipText(bytes))] },
  ],
};
