import { quote } from '../api/go-text.js';
import { ipBytes, ipText } from '../api/ip-address.js';
import { context, DerCursor, tags } from './der.js';
import { encode } from './der-writer.js';
import { isAscii } from './directory-string.js';
import { malformed, PkiError } from './pki-error.js';
import { uriProblem } from './uri.js';

/** The four kinds of names in subjectAltName (RFC 5280 4.2.1.6) that are read and issued; others are dropped. */
export interface AlternativeNames {
  readonly dnsNames: readonly string[];
  readonly emailAddresses: readonly string[];
  /** An IPv4 address mapped into IPv6 is read as IPv4. */
  readonly ipAddresses: readonly string[];
  readonly uris: readonly string[];
}

export const noAlternativeNames: AlternativeNames = { dnsNames: [], emailAddresses: [], ipAddresses: [], uris: [] };

export const hasAlternativeNames = (names: AlternativeNames): boolean =>
  names.dnsNames.length + names.emailAddresses.length + names.ipAddresses.length + names.uris.length > 0;

/** The tags of the kinds of names that are read, also in name constraints. */
export const nameTags = { email: context(1), dns: context(2), uri: context(6), ip: context(7) } as const;
export const nameKinds: ReadonlySet<number> = new Set(Object.values(nameTags));

function ascii(value: Buffer, kind: string): string {
  if (!isAscii(value)) throw malformed(`SAN ${kind} is malformed`);
  return value.toString('latin1');
}

function uri(value: Buffer): string {
  const text = ascii(value, 'uniformResourceIdentifier');
  const problem = uriProblem(text);
  if (problem !== undefined) throw malformed(`cannot parse URI ${quote(text)}: ${problem}`);
  return text;
}

function ip(value: Buffer): string {
  if (value.length !== 4 && value.length !== 16) throw malformed(`cannot parse IP address of length ${value.length}`);
  return ipText(value);
}

/** The maximum number of names, so that no request takes long. */
const maxNames = 10_000;

/** Reads the value of the extension. Bytes after its SEQUENCE are ignored. */
export function readAlternativeNames(value: Buffer): AlternativeNames {
  const names = new DerCursor(value).enter(tags.sequence);
  if (names === undefined) throw malformed('invalid subject alternative names');
  const read = {
    dnsNames: [] as string[],
    emailAddresses: [] as string[],
    ipAddresses: [] as string[],
    uris: [] as string[],
  };
  for (let count = 0; !names.empty; count++) {
    if (count === maxNames) throw malformed(`more than ${maxNames} subject alternative names`);
    const name = names.any();
    if (name === undefined) throw malformed('invalid subject alternative name');
    if (name.tag === nameTags.dns) read.dnsNames.push(ascii(name.value, 'dNSName'));
    else if (name.tag === nameTags.email) read.emailAddresses.push(ascii(name.value, 'rfc822Name'));
    else if (name.tag === nameTags.ip) read.ipAddresses.push(ip(name.value));
    else if (name.tag === nameTags.uri) read.uris.push(uri(name.value));
  }
  return read;
}

function encodeText(tag: number, text: string): Buffer {
  const bytes = Buffer.from(text);
  if (!isAscii(bytes)) throw new PkiError('unissuable', `x509: ${quote(text)} cannot be encoded as an IA5String`);
  return encode(tag, bytes);
}

function encodeIp(text: string): Buffer {
  const bytes = ipBytes(text);
  if (bytes === undefined) throw new PkiError('unissuable', `${quote(text)} is not an IP address`);
  return encode(nameTags.ip, bytes);
}

/** Returns the value of the extension: DNS names, mail addresses, IP addresses (IPv4 in 4 bytes), URIs. */
export const writeAlternativeNames = (names: AlternativeNames): Buffer =>
  encode(
    tags.sequence,
    Buffer.concat([
      ...names.dnsNames.map((name) => encodeText(nameTags.dns, name)),
      ...names.emailAddresses.map((address) => encodeText(nameTags.email, address)),
      ...names.ipAddresses.map(encodeIp),
      ...names.uris.map((text) => encodeText(nameTags.uri, text)),
    ]),
  );
