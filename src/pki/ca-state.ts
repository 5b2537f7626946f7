import { createHash } from 'node:crypto';
import { member } from '../api/object.js';
import { type Certificate, readPemCertificates } from './certificate.js';
import type { KeyPair } from './certificate-authority.js';
import { encodePem } from './pem.js';
import { PkiError } from './pki-error.js';

/**
 * The state of a CA: the key that signs, the next one if it is announced, and the old anchors that are still published
 * because certificates under them are valid. It is stored in one Secret, so that every change is one write, and a
 * change based on an outdated state is rejected.
 */
export interface CaState {
  /** The number of keys this CA has had, from 1. */
  readonly generation: number;
  readonly signing: KeyPair;
  readonly next?: NextCa | undefined;
  readonly retiring: readonly RetiringCa[];
  /** The longest lifetime that may have been granted, in seconds. Never decreases while a key signs. */
  readonly longestSeconds: number;
}

export interface NextCa {
  readonly pair: KeyPair;
  /**
   * The time from which every bundle has contained its anchor without interruption, in milliseconds since the epoch.
   */
  readonly seenSince?: number | undefined;
}

interface RetiringCa {
  /** The anchor, in PEM. */
  readonly anchor: string;
  /** The CA's own certificate in PEM, if the anchor is a certificate above it. */
  readonly issuer?: string;
  /** The time until which it is published, in milliseconds since the epoch. */
  readonly until: number;
  /** The time from which its successor signs; absent if an older version of this program replaced it. */
  readonly since?: number;
}

/** The members of the Secret. A CA without rotation has only the first two. */
const members = {
  certificate: 'tls.crt',
  key: 'tls.key',
  nextCertificate: 'next.crt',
  nextKey: 'next.key',
  anchors: 'ca.crt',
  facts: 'rotation.json',
} as const;

/** The data of a Secret: base64 by member. */
export type SecretData = Readonly<Record<string, string>>;

interface Facts {
  readonly generation: number;
  /** The fingerprint of the signing certificate of this state. */
  readonly signing: string;
  readonly longestSeconds: number;
  readonly seenSince?: number;
  readonly retiring: readonly RetiringCa[];
}

const textIn = (data: SecretData, name: string): string =>
  Buffer.from(member(data, name) ?? '', 'base64').toString('utf8');

/** Returns the certificate and the key in two members of a Secret; undefined if either is missing. */
function pairIn(data: SecretData, certificateMember: string, keyMember: string): KeyPair | undefined {
  const [certificate, key] = [textIn(data, certificateMember), textIn(data, keyMember)];
  return certificate === '' || key === '' ? undefined : { certificate, key };
}

/**
 * Reads the state from a Secret. A Secret with only a pair is the first generation. Throws PkiError (`authority`) if
 * there is no pair, if the state cannot be read, or if the pair is not the one that the state names: then the CA was
 * replaced by one that was never announced.
 */
export function readCaState(data: SecretData): CaState {
  const signing = pairIn(data, members.certificate, members.key);
  if (signing === undefined) {
    throw new PkiError('authority', `the Secret lacks ${members.certificate} or ${members.key}`);
  }
  const facts = readFacts(textIn(data, members.facts));
  if (facts === undefined) return { generation: 1, signing, retiring: [], longestSeconds: 0 };
  if (facts.signing !== fingerprintOf(signing.certificate)) {
    throw new PkiError(
      'authority',
      `the certificate in ${members.certificate} was replaced, and its anchor had not been published before`,
    );
  }
  const { generation, longestSeconds, retiring, seenSince } = facts;
  const pair = pairIn(data, members.nextCertificate, members.nextKey);
  const state = { generation, signing, retiring, longestSeconds };
  return pair === undefined ? state : { ...state, next: { pair, seenSince } };
}

function readFacts(text: string): Facts | undefined {
  if (text === '') return undefined;
  try {
    const facts = JSON.parse(text) as Partial<Facts> | null;
    const { generation, signing, longestSeconds, retiring, seenSince } = facts ?? {};
    const isWhole =
      typeof generation === 'number' &&
      typeof signing === 'string' &&
      typeof longestSeconds === 'number' &&
      (seenSince === undefined || typeof seenSince === 'number') &&
      Array.isArray(retiring) &&
      retiring.every(isRetiring);
    if (isWhole) return facts as Facts;
  } catch {
    // Reported below.
  }
  throw new PkiError('authority', `${members.facts} of the Secret is not the state of a CA`);
}

const isRetiring = (one: Partial<RetiringCa> | null): boolean =>
  typeof one?.anchor === 'string' &&
  typeof one.until === 'number' &&
  (one.since === undefined || typeof one.since === 'number') &&
  (one.issuer === undefined || typeof one.issuer === 'string');

/** Returns the Secret's data for a state; members that do not belong to a CA are kept. */
export function writeCaState(state: CaState, before: SecretData = {}): SecretData {
  const { generation, signing, next, retiring, longestSeconds } = state;
  const facts: Facts = {
    generation,
    signing: fingerprintOf(signing.certificate),
    longestSeconds,
    ...(next?.seenSince === undefined ? {} : { seenSince: next.seenSince }),
    retiring,
  };
  const texts: readonly (readonly [string, string])[] = [
    [members.certificate, signing.certificate],
    [members.key, signing.key],
    [members.nextCertificate, next?.pair.certificate ?? ''],
    [members.nextKey, next?.pair.key ?? ''],
    [members.anchors, anchorsOf(state)],
    [members.facts, JSON.stringify(facts)],
  ];
  const ownMembers = new Set<string>(Object.values(members));
  return Object.fromEntries([
    ...Object.entries(before).filter(([member]) => !ownMembers.has(member)),
    ...texts.filter(([, text]) => text !== '').map(([member, text]) => [member, Buffer.from(text).toString('base64')]),
  ]);
}

/** Returns everything that must be trusted, in PEM: the anchors of the signing, the next and the retiring CAs. */
export const anchorsOf = ({ signing, next, retiring }: CaState): string =>
  [
    anchorOf(signing),
    ...(next === undefined ? [] : [anchorOf(next.pair)]),
    ...retiring.map(({ anchor }) => anchor),
  ].join('');

/** Returns the certificates of the same CAs themselves, in PEM. An anchor above a CA may issue other CAs as well. */
export const issuersOf = ({ signing, next, retiring }: CaState): string =>
  [
    issuerOf(signing),
    ...(next === undefined ? [] : [issuerOf(next.pair)]),
    ...retiring.map(({ anchor, issuer = anchor }) => issuer),
  ].join('');

/** Returns the first certificate of a chain, in PEM. */
export const issuerOf = (pair: Pick<KeyPair, 'certificate'>): string =>
  encodePem('CERTIFICATE', certificateOf(pair).der);

/** Returns the last certificate of a chain, in PEM. */
export function anchorOf({ certificate }: Pick<KeyPair, 'certificate'>): string {
  const last = readPemCertificates(certificate).at(-1);
  return last === undefined ? '' : encodePem('CERTIFICATE', last.der);
}

/** Returns the first certificate of a chain. Throws PkiError (`authority`) if there is none. */
export function certificateOf({ certificate }: Pick<KeyPair, 'certificate'>): Certificate {
  const [first] = readPemCertificates(certificate);
  if (first === undefined) throw new PkiError('authority', 'the certificate of the CA is missing');
  return first;
}

const fingerprintOf = (certificate: string): string =>
  createHash('sha256').update(certificateOf({ certificate }).der).digest('hex');
