import { hasAlternativeNames, nameKinds, readAlternativeNames } from '../pki/alternative-names.js';
import type { Certificate } from '../pki/certificate.js';
import { constructed, context, DerCursor, tags } from '../pki/der.js';

/** What a certificate may be used for, as far as verifying a chain asks (RFC 5280 4.2). */
export interface CertificatePurpose {
  /** Object identifiers; undefined: any purpose. */
  readonly extendedKeyUsages: readonly string[] | undefined;
  readonly hasNameConstraints: boolean;
  readonly hasAlternativeNames: boolean;
  /** Is there a critical extension that nobody here understands, or not all of? */
  readonly hasUnhandledCritical: boolean;
}

const oids = {
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  distributionPoints: '2.5.29.31',
  policies: '2.5.29.32',
  policyMappings: '2.5.29.33',
  policyConstraints: '2.5.29.36',
  extendedKeyUsage: '2.5.29.37',
  inhibitAnyPolicy: '2.5.29.54',
} as const;
const always = (): boolean => true;

/**
 * Extensions that are understood, and whether everything in them is: names of other kinds are looked at by nobody.
 * Policies matter only to those who demand one, and a certificate that demands one is not understood.
 */
const handled: ReadonlyMap<string, (value: Buffer) => boolean> = new Map([
  [oids.keyUsage, always],
  [oids.alternativeNames, (value) => hasAlternativeNames(readAlternativeNames(value))],
  [oids.basicConstraints, always],
  [oids.nameConstraints, constrainsKnownNames],
  [oids.distributionPoints, always],
  [oids.policies, always],
  [oids.policyMappings, always],
  [oids.policyConstraints, (value) => !demandsPolicy(value)],
  [oids.extendedKeyUsage, always],
  [oids.inhibitAnyPolicy, always],
]);

/** Reads the extensions of a certificate that has been parsed, and so is well-formed. */
export function purposeOf({ toBeSigned }: Certificate): CertificatePurpose {
  const extensions = [...extensionsOf(toBeSigned)];
  const contentsOf = (oid: string): Buffer | undefined => extensions.find((extension) => extension.oid === oid)?.value;
  const extendedKeyUsage = contentsOf(oids.extendedKeyUsage);
  return {
    extendedKeyUsages: extendedKeyUsage && [...identifiersIn(extendedKeyUsage)],
    hasNameConstraints: contentsOf(oids.nameConstraints) !== undefined,
    hasAlternativeNames: contentsOf(oids.alternativeNames) !== undefined,
    hasUnhandledCritical: extensions.some(({ oid, critical, value }) => critical && !handled.get(oid)?.(value)),
  };
}

interface Extension {
  readonly oid: string;
  readonly critical: boolean;
  readonly value: Buffer;
}

function* extensionsOf(toBeSigned: Buffer): Generator<Extension> {
  const tbs = new DerCursor(toBeSigned).enter(tags.sequence);
  if (tbs === undefined) return;
  if (tbs.nextIs(constructed(0))) tbs.any();
  // serial, signature algorithm, issuer, validity, subject, key
  for (let skipped = 0; skipped < 6; skipped++) tbs.any();
  for (const uniqueId of [context(1), context(2)]) if (tbs.nextIs(uniqueId)) tbs.any();
  const list = tbs.enter(constructed(3))?.enter(tags.sequence);
  while (list && !list.empty) {
    const extension = list.enter(tags.sequence);
    if (extension === undefined) return;
    const oid = extension.oid() ?? '';
    const critical = extension.nextIs(tags.boolean) ? extension.boolean() === true : false;
    yield { oid, critical, value: extension.read(tags.octetString) ?? Buffer.alloc(0) };
  }
}

function* identifiersIn(value: Buffer): Generator<string> {
  const list = new DerCursor(value).enter(tags.sequence);
  while (list && !list.empty) {
    const oid = list.oid();
    if (oid === undefined) return;
    yield oid;
  }
}

/** Are all names that the constraints speak of of kinds that certificates are read for? Names of directories are not. */
function constrainsKnownNames(value: Buffer): boolean {
  const constraints = new DerCursor(value).enter(tags.sequence);
  while (constraints && !constraints.empty) {
    const subtrees = new DerCursor(constraints.any()?.value ?? Buffer.alloc(0));
    while (!subtrees.empty) {
      const base = subtrees.enter(tags.sequence)?.any();
      if (base === undefined || !nameKinds.has(base.tag)) return false;
    }
  }
  return true;
}

/** Is there a requireExplicitPolicy? */
const demandsPolicy = (value: Buffer): boolean =>
  new DerCursor(value).enter(tags.sequence)?.nextIs(context(0)) ?? false;
