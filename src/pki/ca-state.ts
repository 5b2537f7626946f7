import { createHash } from 'node:crypto';
import { member } from '../api/object.js';
import { type Certificate, readPemCertificates } from './certificate.js';
import type { KeyPair } from './certificate-authority.js';
import { encodePem } from './pem.js';
import { PkiError } from './pki-error.js';

/**
 * A CA with what was before it and what comes after it: the key that signs, the one announced to sign next, and the
 * anchors that must stay because certificates under them are still valid. Kept as the data of one Secret, so that
 * every change of it is one write, and a change based on an outdated state is refused.
 */
export interface CaState {
  /** Counts the keys this CA has had, from 1. */
  readonly generation: number;
  readonly signing: KeyPair;
  readonly next?: NextCa | undefined;
  readonly retiring: readonly RetiringCa[];
  /** Longest lifetime that may have been granted, in seconds. Never shrinks while a key signs. */
  readonly longestSeconds: number;
}

export interface NextCa {
  readonly pair: KeyPair;
  /** Since when, without a break, every bundle has its anchor; in milliseconds since the epoch. */
  readonly seenSince?: number | undefined;
}

interface RetiringCa {
  /** PEM of the anchor. */
  readonly anchor: string;
  /** PEM of the CA's own certificate, where the anchor stands above it. */
  readonly issuer?: string;
  /** It is published until then, in milliseconds since the epoch. */
  readonly until: number;
  /** Since when the key after it signs; absent where an older version replaced it. */
  readonly since?: number;
}

/** Members of the Secret. The first two are all that a CA without rotation has. */
const members = {
  certificate: 'tls.crt',
  key: 'tls.key',
  nextCertificate: 'next.crt',
  nextKey: 'next.key',
  anchors: 'ca.crt',
  facts: 'rotation.json',
} as const;

/** Data of a Secret: base64 by member. */
export type SecretData = Readonly<Record<string, string>>;

interface Facts {
  readonly generation: number;
  /** Fingerprint of the certificate that this state made the signing one. */
  readonly signing: string;
  readonly longestSeconds: number;
  readonly seenSince?: number;
  readonly retiring: readonly RetiringCa[];
}

const textIn = (data: SecretData, name: string): string =>
  Buffer.from(member(data, name) ?? '', 'base64').toString('utf8');

/** The certificate and the key in two members of a Secret; undefined if it lacks either. */
function pairIn(data: SecretData, certificateMember: string, keyMember: string): KeyPair | undefined {
  const [certificate, key] = [textIn(data, certificateMember), textIn(data, keyMember)];
  return certificate === '' || key === '' ? undefined : { certificate, key };
}

/**
 * Reads the state from a Secret. A Secret with only a pair is the first generation. Throws PkiError (`authority`) if
 * there is no pair, if the state cannot be read, and if the pair is not the one that the state names: then the CA was
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

/** The Secret's data for a state; members that are not of a CA are kept. */
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
  const ours = new Set<string>(Object.values(members));
  return Object.fromEntries([
    ...Object.entries(before).filter(([member]) => !ours.has(member)),
    ...texts.filter(([, text]) => text !== '').map(([member, text]) => [member, Buffer.from(text).toString('base64')]),
  ]);
}

/** PEM of everything that must be trusted: what signs, what will sign, and what has signed. */
export const anchorsOf = ({ signing, next, retiring }: CaState): string =>
  [
    anchorOf(signing),
    ...(next === undefined ? [] : [anchorOf(next.pair)]),
    ...retiring.map(({ anchor }) => anchor),
  ].join('');

/** PEM of the CA's own certificates, of the same times. Who is trusted above them issues to others as well. */
export const issuersOf = ({ signing, next, retiring }: CaState): string =>
  [
    issuerOf(signing),
    ...(next === undefined ? [] : [issuerOf(next.pair)]),
    ...retiring.map(({ anchor, issuer = anchor }) => issuer),
  ].join('');

/** PEM of the first certificate of a chain. */
export const issuerOf = (pair: Pick<KeyPair, 'certificate'>): string =>
  encodePem('CERTIFICATE', certificateOf(pair).der);

/** PEM of the last certificate of a chain. */
export function anchorOf({ certificate }: Pick<KeyPair, 'certificate'>): string {
  const last = readPemCertificates(certificate).at(-1);
  return last === undefined ? '' : encodePem('CERTIFICATE', last.der);
}

/** The first certificate of a chain. Throws PkiError (`authority`) if there is none. */
export function certificateOf({ certificate }: Pick<KeyPair, 'certificate'>): Certificate {
  const [first] = readPemCertificates(certificate);
  if (first === undefined) throw new PkiError('authority', 'the certificate of the CA is missing');
  return first;
}

const fingerprintOf = (certificate: string): string =>
  createHash('sha256').update(certificateOf({ certificate }).der).digest('hex');
