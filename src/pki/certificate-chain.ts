import { timestamp } from '../api/time.js';
import type { Certificate } from './certificate.js';
import { oids } from './oids.js';
import { isSignedBy } from './signature.js';

/** The result of verifying a chain. The texts are those of Go's crypto/x509. */
export type ChainVerdict =
  /** The chain is valid until then, in milliseconds since the epoch. */
  { readonly validUntil: number } | { readonly refused: string };

/** The maximum number of signatures that are verified, because the untrusted client chooses the certificates. */
const maxSignatures = 20;

/** The signature algorithms that are not accepted in a chain: MD5 and SHA-1. */
const insecure: ReadonlySet<string> = new Set([
  oids.md5WithRsa,
  oids.sha1WithRsa,
  oids.sha1WithRsaIso,
  oids.dsaWithSha1,
  oids.ecdsaWithSha1,
]);

interface Issuers {
  readonly intermediates: readonly Certificate[];
  readonly anchors: readonly Certificate[];
}

/**
 * Builds a chain from the leaf over the presented intermediates to one of the anchors. In it, every certificate is
 * currently valid, every issuer is a CA with sufficient path length, and every extended key usage permits the required
 * one.
 */
export function verifyChain(
  leaf: Certificate,
  options: Issuers & {
    /** Milliseconds since the epoch. */
    readonly now: number;
    /** The object identifier of the required extended key usage. */
    readonly usage: string;
  },
): ChainVerdict {
  const problem = problemOf(leaf, options.now);
  if (problem !== undefined) return { refused: problem };
  if (options.anchors.some(({ der }) => der.equals(leaf.der))) {
    const wrong = usageProblem([leaf], options.usage);
    return wrong === undefined ? { validUntil: leaf.notAfter } : { refused: wrong };
  }

  let signatures = 0;
  // The first problem that is found, because the likeliest issuers come first.
  let likeliest: string | undefined;
  const search = (chain: readonly Certificate[]): ChainVerdict | undefined => {
    const last = chain.at(-1) ?? leaf;
    for (const { issuer, trusted } of issuersOf(last, options)) {
      if (chain.some((below) => isSameEntity(below, issuer))) continue;
      if (++signatures > maxSignatures)
        return { refused: 'x509: signature check attempts limit reached while verifying certificate chain' };
      const longer = [...chain, issuer];
      const wrong =
        issuerProblem(issuer, { last, chain, trusted, now: options.now }) ??
        (trusted ? (policyProblem(chain) ?? usageProblem(longer, options.usage)) : undefined);
      if (wrong !== undefined) likeliest ??= wrong;
      else if (trusted) return { validUntil: Math.min(...longer.map(({ notAfter }) => notAfter)) };
      else {
        const found = search(longer);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  };
  return search([leaf]) ?? { refused: likeliest ?? 'x509: certificate signed by unknown authority' };
}

/** Yields the candidate issuers of a certificate by name, each once: anchors first, and of both the likeliest first. */
function* issuersOf(
  certificate: Certificate,
  { anchors, intermediates }: Issuers,
): Generator<{ readonly issuer: Certificate; readonly trusted: boolean }> {
  for (const issuer of candidates(certificate, anchors)) yield { issuer, trusted: true };
  for (const issuer of candidates(certificate, intermediates)) yield { issuer, trusted: false };
}

/** Returns the certificates with the name of the issuer, each once, those with its key identifier first. */
function candidates({ issuerDer, authorityKeyId }: Certificate, all: readonly Certificate[]): readonly Certificate[] {
  const named = all.filter(({ subjectDer }) => subjectDer.equals(issuerDer));
  const distinct = new Map(named.map((one) => [one.der.toString('latin1'), one]));
  const unlikelihood = ({ subjectKeyId = none }: Certificate): number => {
    const wanted = authorityKeyId ?? none;
    if (subjectKeyId.equals(wanted)) return 0;
    return subjectKeyId.length === 0 || wanted.length === 0 ? 1 : 2;
  };
  return [...distinct.values()].sort((a, b) => unlikelihood(a) - unlikelihood(b));
}
const none = Buffer.alloc(0);

/**
 * Whether two certificates have the same subject, key and alternative names. A chain through both would be a loop, as
 * between CAs that certify each other.
 */
const isSameEntity = (one: Certificate, other: Certificate): boolean =>
  one.subjectDer.equals(other.subjectDer) &&
  one.publicKey.kind === other.publicKey.kind &&
  one.publicKey.raw.equals(other.publicKey.raw) &&
  one.alternativeNamesDer.equals(other.alternativeNamesDer);

function problemOf(certificate: Certificate, now: number): string | undefined {
  if (certificate.hasUnhandledCritical) return 'x509: unhandled critical extension';
  const dates = 'x509: certificate has expired or is not yet valid: current time';
  if (now < certificate.notBefore) return `${dates} ${timestamp(now)} is before ${timestamp(certificate.notBefore)}`;
  if (now > certificate.notAfter) return `${dates} ${timestamp(now)} is after ${timestamp(certificate.notAfter)}`;
  return undefined;
}

/** Returns why `issuer` may not be the issuer of `last` in this chain; undefined if it may. */
function issuerProblem(
  issuer: Certificate,
  position: {
    readonly last: Certificate;
    readonly chain: readonly Certificate[];
    /** Whether the issuer is an anchor. */
    readonly trusted: boolean;
    readonly now: number;
  },
): string | undefined {
  const { last, chain, trusted, now } = position;
  if ((issuer.version === 3 && !issuer.isCA) || !issuer.signsCertificates) {
    return 'x509: certificate signed by unknown authority';
  }
  if (insecure.has(last.signatureAlgorithm.oid)) return 'x509: certificate signed with an insecure algorithm';
  if (!isSignedBy(last, issuer)) return 'x509: certificate signed by unknown authority';
  // Before version 3 a certificate cannot say whether it is a CA: it is one only as an anchor, never below another CA.
  if (!trusted && !issuer.isCA) return 'x509: certificate is not authorized to sign other certificates';
  // Go also counts self-issued certificates, which RFC 5280 does not.
  if (issuer.pathLength !== undefined && chain.length - 1 > issuer.pathLength) {
    return 'x509: too many intermediates for path length constraint';
  }
  // Name constraints are not evaluated: below a CA that has them, certificates with alternative names are rejected. No
  // CA of this package has them.
  if (issuer.hasNameConstraints && chain.some(({ alternativeNamesDer }) => alternativeNamesDer.length > 0)) {
    return 'x509: issuer has name constraints but leaf contains unknown or unconstrained name: ';
  }
  return problemOf(issuer, now);
}

/**
 * Policies are not evaluated, so a chain that must have one is rejected. `chain` is without the anchor, whose
 * requirements do not apply.
 */
const policyProblem = (chain: readonly Certificate[]): string | undefined =>
  chain.some(({ requiresExplicitPolicy }) => requiresExplicitPolicy)
    ? 'x509: no valid chains built: 1 candidate chains with invalid policies'
    : undefined;

/** Every certificate of the chain must permit the usage; one without usages permits all. */
const usageProblem = (chain: readonly Certificate[], usage: string): string | undefined =>
  chain.every(
    ({ extendedKeyUsages: usages }) => !usages?.length || usages.includes(usage) || usages.includes(oids.anyUsage),
  )
    ? undefined
    : 'x509: certificate specifies an incompatible key usage';
