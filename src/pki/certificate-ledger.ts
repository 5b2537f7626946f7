import { createHash } from 'node:crypto';
import { type LedgerEntrySpec, type LedgerRecord, ledgerEntryName, ledgerLimits } from '../api/certificate-ledger.js';
import { timestamp } from '../api/time.js';
import type { AlternativeNames } from './alternative-names.js';
import { type Certificate, readPemCertificates } from './certificate.js';
import { attributeTypes, type DistinguishedName } from './distinguished-name.js';
import { PkiError } from './pki-error.js';

/** The last entry of the ledger's chain. */
export interface LedgerHead {
  /** 0 if there is no entry yet. */
  readonly sequence: number;
  readonly hash: string;
}

export const emptyLedger: LedgerHead = { sequence: 0, hash: '' };

/** Returns the record of an issued certificate. Throws PkiError (`parse`) if there is no certificate. */
export function ledgerRecord(
  issued: string,
  origin: Pick<LedgerRecord, 'request' | 'requester' | 'approval' | 'signerName'>,
): LedgerRecord {
  const [certificate] = readPemCertificates(issued);
  if (certificate === undefined) throw new PkiError('parse', 'nothing was issued');
  const { approval, requester, request, signerName } = origin;
  const names = namesOf(certificate.alternativeNames);
  const shown = firstNames(names);
  const { reason, message } = approval;
  return {
    request: { name: cut(request.name), uid: request.uid },
    requester: cut(requester),
    approval: { ...(reason ? { reason: cut(reason) } : {}), ...(message ? { message: cut(message) } : {}) },
    signerName,
    caKeyId: caKeyIdOf(certificate),
    serial: certificate.serial,
    subject: cut(subjectText(certificate.subject)),
    ...(shown.length > 0 ? { names: shown } : {}),
    ...(shown.length < names.length
      ? { omittedNames: names.length - shown.length, namesSha256: sha256(names.join('\n')) }
      : {}),
    notBefore: timestamp(certificate.notBefore),
    notAfter: timestamp(certificate.notAfter),
    sha256: sha256(certificate.der),
  };
}

const sha256 = (contents: string | Uint8Array): string => createHash('sha256').update(contents).digest('hex');

/** Returns the key identifier of the issuer as the certificate contains it; without one, that of the issuer's name. */
const caKeyIdOf = ({ authorityKeyId, issuerDer }: Certificate): string =>
  (authorityKeyId ?? createHash('sha256').update(issuerDer).digest().subarray(0, 20)).toString('hex');

const namesOf = ({ dnsNames, ipAddresses, emailAddresses, uris }: AlternativeNames): readonly string[] => [
  ...dnsNames.map((name) => `DNS:${name}`),
  ...ipAddresses.map((address) => `IP:${address}`),
  ...emailAddresses.map((address) => `email:${address}`),
  ...uris.map((uri) => `URI:${uri}`),
];

/** Returns as many names as fit into a record. */
function firstNames(names: readonly string[]): readonly string[] {
  let bytes = 0;
  const tooMany = names.findIndex((name, at) => {
    bytes += Buffer.byteLength(name);
    return at >= ledgerLimits.names || bytes > ledgerLimits.nameBytes;
  });
  return tooMany < 0 ? names : names.slice(0, tooMany);
}

/** Returns well-formed Unicode of bounded length, so that the text that is hashed is the text that is stored. */
function cut(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= ledgerLimits.textBytes) return bytes.toString('utf8');
  return `${bytes
    .subarray(0, ledgerLimits.textBytes)
    .toString('utf8')
    .replace(/\ufffd+$/, '')}…`;
}

const abbreviations: Readonly<Record<string, string>> = {
  [attributeTypes.commonName]: 'CN',
  [attributeTypes.serialNumber]: 'SERIALNUMBER',
  [attributeTypes.country]: 'C',
  [attributeTypes.locality]: 'L',
  [attributeTypes.province]: 'ST',
  [attributeTypes.streetAddress]: 'STREET',
  [attributeTypes.organization]: 'O',
  [attributeTypes.organizationalUnit]: 'OU',
  [attributeTypes.postalCode]: 'POSTALCODE',
};

/** Escapes the value of an attribute for the text of a subject (RFC 4514, section 2.4). */
export const escapedValue = (value: string): string =>
  value.replace(/[,+"\\<>;=]|^[ #]| $/g, '\\$&').replaceAll('\0', '\\00');

/**
 * Returns the text of a subject: its attributes in the order of the certificate, which RFC 4514 reverses, each as a
 * separate RDN.
 */
const subjectText = ({ attributes }: DistinguishedName): string =>
  attributes.map(({ type, value }) => `${abbreviations[type] ?? type}=${escapedValue(value)}`).join(',');

/**
 * Returns the SHA-256 over sequence number, previous hash and records: JSON with sorted members, without absent and
 * empty ones.
 */
export const ledgerHash = ({ sequence, previous, records }: Omit<LedgerEntrySpec, 'hash'>): string =>
  sha256(canonical({ sequence, previous, records }) ?? '');

function canonical(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '' || value === 0) return undefined;
  if (Array.isArray(value))
    return value.length === 0 ? undefined : `[${value.map((item) => canonical(item) ?? '""').join()}]`;
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, inner]) => {
      const text = canonical(inner);
      return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
    });
  return members.length === 0 ? undefined : `{${members.join()}}`;
}

/** Returns the entry that follows a head. */
export function nextLedgerEntry(head: LedgerHead, records: readonly LedgerRecord[]): LedgerEntrySpec {
  const entry = {
    sequence: head.sequence + 1,
    ...(head.sequence === 0 ? {} : { previous: head.hash }),
    records,
  };
  return { ...entry, hash: ledgerHash(entry) };
}

/** Returns all errors in an entry that can be found without the other entries. */
export function ledgerEntryProblems(name: string, spec: LedgerEntrySpec): readonly string[] {
  const { sequence, previous, records = [], hash } = spec;
  return [
    ...(Number.isSafeInteger(sequence) && sequence > 0 ? [] : ['sequence must be a positive number']),
    ...(name === ledgerEntryName(sequence) ? [] : [`the name must be ${ledgerEntryName(sequence)}`]),
    ...((previous === undefined) === (sequence === 1) ? [] : ['previous is required in all entries but the first']),
    ...(records.length > 0 && records.length <= ledgerLimits.records
      ? []
      : [`there must be 1 to ${ledgerLimits.records} records`]),
    ...records.flatMap(recordProblems).slice(0, 1),
    ...(hash === ledgerHash(spec) ? [] : ['hash is not that of the contents']),
  ];
}

/** Returns the errors in the fields of a record that its readers rely on. */
const recordProblems = (record: Partial<LedgerRecord>, at: number): readonly string[] => [
  ...(['signerName', 'caKeyId', 'serial', 'sha256'] as const)
    .filter((member) => !record[member])
    .map((member) => `records[${at}] has no ${member}`),
  ...(['notBefore', 'notAfter'] as const)
    .filter((member) => Number.isNaN(Date.parse(record[member] ?? '')))
    .map((member) => `records[${at}].${member} is not a time`),
];

/** The result of verifying a ledger. */
export interface LedgerVerdict {
  /** The sequence number of the first entry; 1 for an empty ledger. */
  readonly first: number;
  readonly head: LedgerHead;
  readonly records: number;
  /** The errors, in the order of the entries; empty if nothing was changed, removed or inserted. */
  readonly problems: readonly string[];
}

/**
 * Verifies a ledger from its first entry to its last. With a head recorded earlier, also detects whether entries at the
 * end were removed or everything was rewritten. Only such a head makes a ledger valid whose first entries were removed.
 */
export function verifyLedger(
  entries: readonly { readonly name: string; readonly spec: LedgerEntrySpec }[],
  noted?: LedgerHead,
): LedgerVerdict {
  const ordered = [...entries].sort((a, b) => a.spec.sequence - b.spec.sequence);
  const problems: string[] = [];
  const first = ordered[0]?.spec;
  const start: LedgerHead =
    first === undefined ? emptyLedger : { sequence: first.sequence - 1, hash: first.previous ?? '' };
  let head = start;
  for (const { name, spec } of ordered) {
    for (const problem of ledgerEntryProblems(name, spec)) problems.push(`entry ${name}: ${problem}`);
    if (spec.sequence !== head.sequence + 1) {
      problems.push(`entry ${name}: entry ${head.sequence + 1} is missing before it`);
    } else if ((spec.previous ?? '') !== head.hash)
      problems.push(`entry ${name}: it does not continue the previous entry`);
    head = { sequence: spec.sequence, hash: spec.hash };
  }
  if ((noted ?? emptyLedger).sequence < start.sequence) {
    problems.push(`entries up to ${start.sequence} are missing, and no end that was noted there or later was given`);
  } else if (noted !== undefined) {
    const found = [start, ...ordered.map(({ spec }) => spec)].find(({ sequence }) => sequence === noted.sequence);
    if (found === undefined) problems.push(`the ledger ends before entry ${noted.sequence}, which was noted`);
    else if (found.hash !== noted.hash) problems.push(`entry ${noted.sequence} is not the one that was noted`);
  }
  return {
    first: start.sequence + 1,
    head,
    records: ordered.reduce((sum, { spec }) => sum + (spec.records?.length ?? 0), 0),
    problems,
  };
}
