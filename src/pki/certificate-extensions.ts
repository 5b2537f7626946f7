import { isIP } from 'node:net';
import { quote, quoteBytes } from '../api/go-text.js';
import {
  type AlternativeNames,
  hasAlternativeNames,
  nameKinds,
  nameTags,
  readAlternativeNames,
} from './alternative-names.js';
import { constructed, context, DerCursor, smallInteger, tags } from './der.js';
import { isAscii } from './directory-string.js';
import { oids } from './oids.js';
import { malformed, type PkiError } from './pki-error.js';
import { isDomainName } from './uri.js';

/** An extension of a certificate, or one in a request. */
export interface CertificateExtension {
  /** The object identifier in dotted form. */
  readonly oid: string;
  readonly critical: boolean;
  readonly value: Buffer;
}

/**
 * The values of the extensions that must be well-formed for a certificate to be accepted. The set of extensions and the
 * texts are those of Go's crypto/x509.
 */
export interface ExtensionValues {
  readonly basicConstraints?: { readonly isCA: boolean; readonly pathLength: number | undefined };
  readonly signsCertificates?: boolean;
  readonly alternativeNames?: AlternativeNames;
  /** The value of that extension, which may contain no name of a kind that is read. */
  readonly alternativeNamesDer?: Buffer;
  readonly subjectKeyId?: Buffer;
  readonly authorityKeyId?: Buffer;
  /** Object identifiers in dotted form. */
  readonly extendedKeyUsages?: readonly string[];
  readonly hasNameConstraints?: true;
  readonly requiresExplicitPolicy?: boolean;
}

/** The values of one extension. */
interface ReadExtension extends ExtensionValues {
  /**
   * Whether part of it is not evaluated here, so that the certificate must be rejected if the extension is critical.
   */
  readonly isPartlyUnderstood?: boolean;
}

type Reader = (value: DerCursor, extension: CertificateExtension) => ReadExtension;

const nothingTaken: ReadExtension = {};

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  [oids.subjectKeyId, readSubjectKeyId],
  [oids.keyUsage, readKeyUsage],
  [oids.alternativeNames, readNames],
  [oids.basicConstraints, readBasicConstraints],
  ['2.5.29.30', readNameConstraints],
  ['2.5.29.31', readDistributionPoints],
  ['2.5.29.32', readPolicies],
  ['2.5.29.33', readPolicyMappings],
  [oids.authorityKeyId, readAuthorityKeyId],
  ['2.5.29.36', readPolicyConstraints],
  [oids.extendedKeyUsage, readExtendedKeyUsage],
  ['2.5.29.54', readInhibitAnyPolicy],
  ['1.3.6.1.5.5.7.1.1', readAuthorityInfoAccess],
]);

/** Reads every known extension in order. Throws PkiError (`parse`) for the first malformed one. */
export function readExtensionValues(extensions: readonly CertificateExtension[]): {
  readonly values: ExtensionValues;
  /** Whether a critical extension is unknown or not fully understood. */
  readonly hasUnhandledCritical: boolean;
} {
  let values: ExtensionValues = {};
  let hasUnhandledCritical = false;
  for (const extension of extensions) {
    const read = readers.get(extension.oid)?.(new DerCursor(extension.value), extension);
    const { isPartlyUnderstood = false, ...taken } = read ?? { isPartlyUnderstood: true };
    values = { ...values, ...taken };
    hasUnhandledCritical ||= extension.critical && isPartlyUnderstood;
  }
  return { values, hasUnhandledCritical };
}

/** Reads the alternative names. Names of other kinds are not evaluated. */
function readNames(_: DerCursor, { value }: CertificateExtension): ReadExtension {
  const alternativeNames = readAlternativeNames(value);
  return { alternativeNames, alternativeNamesDer: value, isPartlyUnderstood: !hasAlternativeNames(alternativeNames) };
}

/** The bit of keyUsage for signing certificates, counted from the most significant one. */
const certificateSigningBit = 0x80 >> 5;

function readKeyUsage(value: DerCursor): ReadExtension {
  const usage = value.bitString();
  if (usage === undefined) throw malformed('invalid key usage');
  return { signsCertificates: ((usage.bytes[0] ?? 0) & certificateSigningBit) !== 0 };
}

function readBasicConstraints(value: DerCursor): ReadExtension {
  const failure = (): PkiError => malformed('invalid basic constraints');
  const members = value.enter(tags.sequence);
  if (members === undefined) throw failure();
  const isCA = members.nextIs(tags.boolean) ? members.boolean() : false;
  if (isCA === undefined) throw failure();
  if (!members.nextIs(tags.integer)) return { basicConstraints: { isCA, pathLength: undefined } };
  const bytes = members.integer();
  const length = bytes && smallInteger(bytes);
  if (length === undefined || length < 0n) throw failure();
  return { basicConstraints: { isCA, pathLength: Number(length) } };
}

function readSubjectKeyId(value: DerCursor, { critical }: CertificateExtension): ReadExtension {
  if (critical) throw malformed('subject key identifier incorrectly marked critical');
  const subjectKeyId = value.read(tags.octetString);
  if (subjectKeyId === undefined) throw malformed('invalid subject key identifier');
  return { subjectKeyId };
}

function readAuthorityKeyId(value: DerCursor, { critical }: CertificateExtension): ReadExtension {
  if (critical) throw malformed('authority key identifier incorrectly marked critical');
  const members = value.enter(tags.sequence);
  if (members === undefined) throw malformed('invalid authority key identifier');
  if (!members.nextIs(context(0))) return nothingTaken;
  const authorityKeyId = members.read(context(0));
  if (authorityKeyId === undefined) throw malformed('invalid authority key identifier');
  return { authorityKeyId };
}

function readExtendedKeyUsage(value: DerCursor): ReadExtension {
  const members = value.enter(tags.sequence);
  if (members === undefined) throw malformed('invalid extended key usages');
  const extendedKeyUsages: string[] = [];
  while (!members.empty) {
    const usage = members.oid();
    if (usage === undefined) throw malformed('invalid extended key usages');
    extendedKeyUsages.push(usage);
  }
  return { extendedKeyUsages };
}

function readPolicies(value: DerCursor): ReadExtension {
  const failure = (): PkiError => malformed('invalid certificate policies');
  const policies = value.enter(tags.sequence);
  if (policies === undefined) throw failure();
  const seen = new Set<string>();
  while (!policies.empty) {
    const oid = policies.enter(tags.sequence)?.read(tags.oid);
    if (oid === undefined || !isWellFormedOid(oid) || seen.has(oid.toString('hex'))) throw failure();
    seen.add(oid.toString('hex'));
  }
  return nothingTaken;
}

/** Whether an object identifier is well-formed: arcs of any size, each in its shortest form. */
const isWellFormedOid = (oid: Buffer): boolean =>
  oid.length > 0 &&
  (oid.at(-1) ?? 0) < 0x80 &&
  oid.every((byte, at) => byte !== 0x80 || (at > 0 && (oid[at - 1] ?? 0) >= 0x80));

function readPolicyMappings(value: DerCursor): ReadExtension {
  const mappings = value.enter(tags.sequence);
  if (mappings === undefined) throw malformed('invalid policy mappings extension');
  while (!mappings.empty) {
    const mapping = mappings.enter(tags.sequence);
    if (mapping?.read(tags.oid) === undefined || mapping.read(tags.oid) === undefined) {
      throw malformed('invalid policy mappings extension');
    }
  }
  return nothingTaken;
}

/** Reads policy constraints. Policies matter only below a certificate that requires an explicit one. */
function readPolicyConstraints(value: DerCursor): ReadExtension {
  const members = value.enter(tags.sequence);
  if (members === undefined) throw malformed('invalid policy constraints extension');
  const requiresExplicitPolicy = members.nextIs(context(0));
  for (const tag of [context(0), context(1)]) {
    if (!members.nextIs(tag)) continue;
    const bytes = members.integer(tag);
    if (bytes === undefined || smallInteger(bytes) === undefined) {
      throw malformed('invalid policy constraints extension');
    }
  }
  return { requiresExplicitPolicy };
}

function readInhibitAnyPolicy(value: DerCursor): ReadExtension {
  const bytes = value.integer();
  if (bytes === undefined || smallInteger(bytes) === undefined) {
    throw malformed('invalid inhibit any policy extension');
  }
  return nothingTaken;
}

function readDistributionPoints(value: DerCursor): ReadExtension {
  const points = value.enter(tags.sequence);
  if (points === undefined) throw malformed('invalid CRL distribution points');
  const failure = (): PkiError => malformed('invalid CRL distribution point');
  while (!points.empty) {
    const point = points.enter(tags.sequence);
    if (point === undefined) throw failure();
    if (!point.nextIs(constructed(0))) continue;
    const names = point.enter(constructed(0))?.enter(constructed(0));
    if (names === undefined) throw failure();
    while (names.nextIs(context(6))) if (names.read(context(6)) === undefined) throw failure();
  }
  return nothingTaken;
}

function readAuthorityInfoAccess(value: DerCursor, { critical }: CertificateExtension): ReadExtension {
  if (critical) throw malformed('authority info access incorrectly marked critical');
  const failure = (): PkiError => malformed('invalid authority info access');
  const descriptions = value.enter(tags.sequence);
  if (descriptions === undefined) throw failure();
  while (!descriptions.empty) {
    const description = descriptions.enter(tags.sequence);
    if (description?.oid() === undefined) throw failure();
    if (description.nextIs(context(6)) && description.read(context(6)) === undefined) throw failure();
  }
  return nothingTaken;
}

/**
 * Reads name constraints. They are fully understood if all their names are of kinds that are read from certificates;
 * directory names are not.
 */
function readNameConstraints(outer: DerCursor): ReadExtension {
  const failure = (): PkiError => malformed('invalid NameConstraints extension');
  const top = outer.enter(tags.sequence);
  if (top === undefined || !outer.empty) throw failure();
  const subtrees = [constructed(0), constructed(1)].map((tag) => {
    if (!top.nextIs(tag)) return undefined;
    const found = top.enter(tag);
    if (found === undefined) throw failure();
    return found;
  });
  if (!top.empty) throw failure();
  if (subtrees.every((subtree) => subtree === undefined || subtree.empty)) {
    throw malformed('empty name constraints extension');
  }
  let isPartlyUnderstood = false;
  for (const subtree of subtrees) {
    while (subtree && !subtree.empty) {
      const base = subtree.enter(tags.sequence)?.any();
      if (base === undefined) throw failure();
      const problem = constraintProblem(base.tag, base.value);
      if (problem !== undefined) throw malformed(problem);
      isPartlyUnderstood ||= !nameKinds.has(base.tag);
    }
  }
  return { hasNameConstraints: true, isPartlyUnderstood };
}

/** Returns the error in the base of a subtree; undefined if it is valid or of a kind that is not understood. */
function constraintProblem(tag: number, value: Buffer): string | undefined {
  if (tag === nameTags.ip) return ipConstraintProblem(value);
  if (tag !== nameTags.dns && tag !== nameTags.email && tag !== nameTags.uri) return undefined;
  const text = value.toString('latin1');
  if (!isAscii(value)) {
    return `invalid constraint value: x509: ${quoteBytes(value)} cannot be encoded as an IA5String`;
  }
  if (tag === nameTags.dns) {
    return isDomainName(text, { constraint: true }) ? undefined : `failed to parse dnsName constraint ${quote(text)}`;
  }
  if (tag === nameTags.email) {
    const passes = text.includes('@') ? isMailbox(text) : isDomainName(text, { constraint: true });
    return passes ? undefined : `failed to parse rfc822Name constraint ${quote(text)}`;
  }
  if (isIP(text) !== 0) return `failed to parse URI constraint ${quote(text)}: cannot be IP address`;
  return isDomainName(text, { constraint: true }) ? undefined : `failed to parse URI constraint ${quote(text)}`;
}

/**
 * Returns the error of an IP constraint: it consists of an address and a mask of equal length, and the ones of the mask
 * come first.
 */
function ipConstraintProblem(value: Buffer): string | undefined {
  if (value.length !== 8 && value.length !== 32) return `IP constraint contained value of length ${value.length}`;
  const mask = value.subarray(value.length / 2);
  const contiguous = /^1*0*$/.test([...mask].map((byte) => byte.toString(2).padStart(8, '0')).join(''));
  return contiguous ? undefined : `IP constraint contained invalid mask ${mask.toString('hex')}`;
}

/**
 * Matches a mailbox: a quoted string, or atoms and dots in which any character may be escaped, before the `@` and the
 * domain.
 */
const mailbox =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters may be quoted
  /^(?:"(?:[\x01-\x08\v\f\x0e-!#-[\]-\x7f]|\\[\x01-\t\v\f\x0e-\x7f])*"|((?:[\w!#$%&'*+\-/=?^`{|}~.]|\\.)+))@(.*)$/s;

/** Whether a text is an RFC 2821 mailbox as Go reads it; the domain may be empty. */
function isMailbox(text: string): boolean {
  const [found, atoms, domain = ''] = mailbox.exec(text) ?? [];
  if (found === undefined || !isDomainName(domain, { constraint: false })) return false;
  return (
    atoms === undefined ||
    atoms
      .replace(/\\(.)/gs, '$1')
      .split('.')
      .every((atom) => atom !== '')
  );
}
