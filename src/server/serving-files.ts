import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { ipBytes } from '../api/ip-address.js';
import { messageOf } from '../api/message-of.js';
import { timestamp } from '../api/time.js';
import { type Certificate, readPemCertificates } from '../pki/certificate.js';
import type { KeyPair } from '../pki/certificate-authority.js';
import { oids } from '../pki/oids.js';
import { certificateBlocks, encodeCertificates } from '../pki/pem.js';
import { isSignedBy } from '../pki/signature.js';
import { keyPairProblem } from '../resources/secrets/key-pair.js';
import { type FollowOptions, followFiles, NotYet } from '../runtime/text-source.js';

/**
 * PEM files of a serving certificate that others issue: the certificate with its chain, its key, and the CAs that
 * verify it.
 */
export interface ServingFiles {
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly caFile: string;
}

/** A serving certificate with its chain and key, and the anchors by which clients verify it, all in PEM. */
export interface Serving extends KeyPair {
  readonly anchors: string;
  /** Aborts when the certificate is replaced; absent if it never is. */
  readonly replaced?: AbortSignal;
}

export interface OpenedServingFiles {
  /** Returns the newest usable certificate. */
  current(): Serving;
}

/**
 * Opens a serving certificate that others issue and renew, and reloads its files when they change. A certificate that
 * cannot be used later is logged, and the previous one stays in use. Fails with an error of one sentence if it cannot
 * be used now.
 *
 * @param names DNS names and addresses by which clients reach the server. The certificate must be for one of them; those
 * that it lacks are logged.
 */
export async function openServingFiles(
  { certificateFile, keyFile, caFile }: ServingFiles,
  { names, ...following }: FollowOptions & { readonly names: readonly string[] },
): Promise<OpenedServingFiles> {
  const { clock, log } = following;
  let current: (Serving & { readonly replace: AbortController }) | undefined;
  const take = ([certificate = '', key = '', ca = '']: readonly string[]): void => {
    const { missing, ...read } = readServing({ certificate, key, ca }, { names, now: clock.now() });
    if (missing.length > 0)
      log.warn({ file: certificateFile, missing }, 'the serving certificate does not cover all servingNames');
    const replace = new AbortController();
    const before = current;
    current = { ...read, replaced: replace.signal, replace };
    before?.replace.abort();
  };
  await followFiles([certificateFile, keyFile, caFile], take, following);
  return {
    current() {
      if (current === undefined) throw new Error('the serving certificate was not reloaded');
      return current;
    },
  };
}

/**
 * Reads the serving certificate from the texts of three PEM files, and determines which names of the server it lacks.
 * Throws an Error with a part of a sentence if clients could not trust it.
 */
export function readServing(
  { certificate, key, ca }: KeyPair & { readonly ca: string },
  { names, now }: { readonly names: readonly string[]; readonly now: number },
): Omit<Serving, 'replaced'> & { readonly missing: readonly string[] } {
  const mismatch = keyPairProblem(Buffer.from(certificate), Buffer.from(key));
  if (mismatch !== undefined) throw new Error(`certificate and key cannot be used: ${mismatch}`);
  const pair = { certificate: encodeCertificates(certificateBlocks(certificate)), key };
  const [leaf, ...chain] = readPemCertificates(pair.certificate);
  const anchors = readPemCertificates(ca);
  if (leaf === undefined || anchors.length === 0) throw new Error('the CA certificate is missing');
  const missing = names.filter((name) => !isValidFor(pair.certificate, name));
  // It may be valid by a clock that is slightly ahead of ours.
  if (now < leaf.notBefore) throw new NotYet(`the certificate is not valid before ${timestamp(leaf.notBefore)}`);
  const problem = leafProblem(leaf, now) ?? (missing.length === names.length ? namesProblem(leaf, names) : undefined);
  if (problem !== undefined) throw new Error(`the certificate ${problem}`);
  if (!chainsTo(anchors, leaf, chain)) throw new Error('the certificate does not chain to any of the CAs');
  checkUsable(pair);
  return { ...pair, anchors: encodeCertificates(certificateBlocks(ca)), missing };
}

function leafProblem({ notAfter, extendedKeyUsages }: Certificate, now: number): string | undefined {
  if (now > notAfter) return `expired at ${timestamp(notAfter)}`;
  const isForServers =
    !extendedKeyUsages?.length || [oids.serverAuth, oids.anyUsage].some((usage) => extendedKeyUsages.includes(usage));
  return isForServers ? undefined : 'does not allow server authentication in its extended key usages';
}

function namesProblem({ alternativeNames }: Certificate, names: readonly string[]): string {
  const { dnsNames, ipAddresses } = alternativeNames;
  const own = [...dnsNames, ...ipAddresses].join(', ') || 'nothing';
  return `is for ${own}, and clients reach the server by ${names.join(', ')} (servingNames)`;
}

/** Whether a certificate is for a name, as clients match it: patterns are matched, and common names are ignored. */
function isValidFor(certificate: string, name: string): boolean {
  const shown = new X509Certificate(certificate);
  const found = ipBytes(name) === undefined ? shown.checkHost(name, { subject: 'never' }) : shown.checkIP(name);
  return found !== undefined;
}

/**
 * Whether a certificate is one of the anchors, or issued by one, directly or through others of its chain. Constraints
 * of issuers are left to clients.
 */
function chainsTo(anchors: readonly Certificate[], certificate: Certificate, chain: readonly Certificate[]): boolean {
  const isAbove = (issuer: Certificate): boolean =>
    issuer.subjectDer.equals(certificate.issuerDer) && isSignedBy(certificate, issuer);
  if (anchors.some((anchor) => anchor.der.equals(certificate.der) || isAbove(anchor))) return true;
  return chain.some(
    (issuer) =>
      isAbove(issuer) &&
      chainsTo(
        anchors,
        issuer,
        chain.filter((other) => other !== issuer),
      ),
  );
}

/** Throws if TLS does not accept the key, for example because it is too short. */
function checkUsable({ certificate, key }: KeyPair): void {
  try {
    createSecureContext({ cert: certificate, key });
  } catch (cause) {
    throw new Error(`the certificate cannot be used for TLS: ${messageOf(cause)}`, { cause });
  }
}
