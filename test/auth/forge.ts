import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { constructed, context, tags } from '../../src/pki/der.js';
import {
  derTrue,
  encode,
  encodeOid,
  encodeTime,
  octetString,
  sequence,
  setOf,
  unsignedInteger,
} from '../../src/pki/der-writer.js';
import { writeName } from '../../src/pki/distinguished-name.js';
import { encodePem } from '../../src/pki/pem.js';

/** Creates certificates that no honest CA would issue, with any subject, dates and extensions. */
export interface Forged {
  readonly der: Buffer;
  readonly pem: string;
  readonly key: KeyObject;
  readonly name: Buffer;
}

export interface Wanted {
  /** Pairs of attribute type and value. */
  readonly subject: readonly (readonly [type: string, value: string])[];
  /** The issuer. Default: the certificate itself. */
  readonly issuer?: Forged;
  readonly notBefore?: number;
  readonly notAfter?: number;
  readonly extensions?: readonly Buffer[];
  /** The key that signs. Default: that of the issuer. */
  readonly signedBy?: KeyObject;
  /** The certified key. Default: a new one. */
  readonly publicKey?: KeyObject;
  /** Default: 3. */
  readonly version?: 1 | 2 | 3;
  /** The hash of the signature. Default: SHA-256. */
  readonly hash?: 'sha1' | 'sha256';
}

export const attributes = { commonName: '2.5.4.3', organization: '2.5.4.10', uid: '1.3.6.1.4.1.57683.2' } as const;
const ecdsaWith = {
  sha1: sequence(encodeOid('1.2.840.10045.4.1')),
  sha256: sequence(encodeOid('1.2.840.10045.4.3.2')),
} as const;
const day = 86_400_000;
let serial = 1;

export function forge(wanted: Wanted): Forged {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(
    ...wanted.subject.map(([type, value]) =>
      setOf([sequence(encodeOid(type), encode(tags.utf8String, Buffer.from(value)))]),
    ),
  );
  const now = Date.UTC(2026, 0, 1);
  const { version = 3, hash = 'sha256' } = wanted;
  const toBeSigned = sequence(
    ...(version === 1 ? [] : [encode(constructed(0), unsignedInteger(Buffer.from([version - 1])))]),
    unsignedInteger(Buffer.from([serial++ & 0x7f, 1])),
    ecdsaWith[hash],
    wanted.issuer?.name ?? name,
    sequence(encodeTime(wanted.notBefore ?? now - day), encodeTime(wanted.notAfter ?? now + day)),
    name,
    (wanted.publicKey ?? publicKey).export({ type: 'spki', format: 'der' }),
    ...(wanted.extensions?.length ? [encode(constructed(3), sequence(...wanted.extensions))] : []),
  );
  const signature = sign(hash, toBeSigned, wanted.signedBy ?? wanted.issuer?.key ?? privateKey);
  const der = sequence(toBeSigned, ecdsaWith[hash], encode(tags.bitString, Buffer.from([0]), signature));
  return { der, pem: encodePem('CERTIFICATE', der), key: privateKey, name };
}

const extension = (type: string, critical: boolean, value: Buffer): Buffer =>
  sequence(encodeOid(type), ...(critical ? [derTrue] : []), octetString(value));

export const extensions = {
  authority: (pathLength?: number): Buffer =>
    extension(
      '2.5.29.19',
      true,
      sequence(derTrue, ...(pathLength === undefined ? [] : [unsignedInteger(Buffer.from([pathLength]))])),
    ),
  extendedKeyUsage: (...usages: readonly string[]): Buffer =>
    extension('2.5.29.37', false, sequence(...usages.map(encodeOid))),
  /** The key identifiers of its own key, and of the issuer's. */
  keyIds: (own: string, issuers: string): readonly Buffer[] => [
    extension('2.5.29.14', false, octetString(Buffer.from(own))),
    extension('2.5.29.35', false, sequence(encode(context(0), Buffer.from(issuers)))),
  ],
  /** Permits digitalSignature only, and not signing certificates. */
  signatureOnly: (): Buffer => extension('2.5.29.15', true, encode(tags.bitString, Buffer.from([7, 0x80]))),
  /** Permits only directory names: O=dev. */
  directoryConstraints: ({ critical }: { readonly critical: boolean }): Buffer =>
    extension(
      '2.5.29.30',
      critical,
      sequence(encode(constructed(0), sequence(encode(constructed(4), writeName({ organizations: ['dev'] }))))),
    ),
  /** Permits only DNS names that end in example.com. */
  dnsConstraints: (): Buffer =>
    extension(
      '2.5.29.30',
      true,
      sequence(encode(constructed(0), sequence(encode(context(2), Buffer.from('example.com'))))),
    ),
  /** The address 127.0.0.1. */
  loopback: (): Buffer => extension('2.5.29.17', false, sequence(encode(context(7), Buffer.from([127, 0, 0, 1])))),
  /** A name of a kind that is not read (otherName), as on smart cards. */
  otherNames: ({ critical }: { readonly critical: boolean }): Buffer =>
    extension(
      '2.5.29.17',
      critical,
      sequence(
        encode(
          constructed(0),
          encodeOid('1.3.6.1.4.1.311.20.2.3'),
          encode(constructed(0), octetString(Buffer.from('a'))),
        ),
      ),
    ),
  /** A critical extension that CAs of public authorities have. */
  policies: (): Buffer => extension('2.5.29.32', true, sequence(sequence(encodeOid('1.2.3.4')))),
  policyConstraints: (
    constraint: 'requireExplicitPolicy' | 'inhibitPolicyMapping',
    { critical = true }: { readonly critical?: boolean } = {},
  ): Buffer =>
    extension(
      '2.5.29.36',
      critical,
      sequence(encode(context(constraint === 'requireExplicitPolicy' ? 0 : 1), Buffer.from([0]))),
    ),
  inhibitAnyPolicy: (): Buffer => extension('2.5.29.54', true, unsignedInteger(Buffer.from([0]))),
  distributionPoints: (): Buffer => extension('2.5.29.31', true, sequence()),
  unknown: ({ critical }: { readonly critical: boolean }): Buffer =>
    extension('1.3.6.1.4.1.99999.1', critical, Buffer.from([5, 0])),
} as const;

export const usages = { client: '1.3.6.1.5.5.7.3.2', server: '1.3.6.1.5.5.7.3.1', any: '2.5.29.37.0' } as const;
