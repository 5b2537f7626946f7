import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readCertificate, readPublicKeyInfo } from '../../pki/certificate.js';
import { pemBlocks } from '../../pki/pem.js';
import { PkiError } from '../../pki/pki-error.js';
import type { PublicKey } from '../../pki/public-key.js';

/**
 * Returns the error of `tls.X509KeyPair` of Go for a PEM certificate chain and a PEM private key; undefined if they
 * belong together. The texts go over the wire.
 */
export function keyPairProblem(certificate: Uint8Array, key: Uint8Array): string | undefined {
  const leaf = findBlock(certificate, (type) => type === 'CERTIFICATE');
  if (leaf.der === undefined) return certificateProblem(leaf.skipped);
  const secret = findBlock(key, (type) => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY'));
  if (secret.der === undefined) return keyProblem(secret.skipped);
  const certified = publicKeyIn(leaf.der);
  if ('problem' in certified) return certified.problem;
  const own = publicKeyOf(secret.der);
  if ('problem' in own) return own.problem;
  if (!knownKinds.includes(certified.kind)) return 'tls: unknown public key algorithm';
  if (own.kind !== certified.kind) return 'tls: private key type does not match public key type';
  return own.spki.equals(certified.spki) ? undefined : 'tls: private key does not match public key';
}

type KeyResult = Pick<PublicKey, 'kind' | 'spki'> | { readonly problem: string };

function publicKeyIn(certificate: Buffer): KeyResult {
  try {
    return readCertificate(certificate).publicKey;
  } catch (error) {
    if (error instanceof PkiError) return { problem: error.message };
    throw error;
  }
}

/** Kinds of keys that Go's TLS knows. */
const knownKinds: readonly string[] = ['RSA', 'ECDSA', 'Ed25519'];

/** Returns the SubjectPublicKeyInfo, with a point on a curve uncompressed even if the private key holds it compressed. */
function publicInfo(key: KeyObject): Buffer {
  const own = createPublicKey(key);
  const jwk = read(() => own.export({ format: 'jwk' }));
  const complete = (jwk && read(() => createPublicKey({ key: jwk, format: 'jwk' }))) ?? own;
  return complete.export({ type: 'spki', format: 'der' });
}

/**
 * Returns the public key of a private key. Whatever the PEM label says, the forms are tried in Go's order: PKCS #1,
 * PKCS #8, SEC 1.
 */
function publicKeyOf(secret: Buffer): KeyResult {
  for (const type of ['pkcs1', 'pkcs8', 'sec1'] as const) {
    const key = read(() => createPrivateKey({ key: secret, format: 'der', type }));
    if (key === undefined) continue;
    if (key.asymmetricKeyType === 'x25519')
      return { problem: 'tls: found unknown private key type in PKCS#8 wrapping' };
    const found = read(() => readPublicKeyInfo(publicInfo(key)));
    if (found !== undefined && knownKinds.includes(found.kind)) return found;
  }
  return { problem: 'tls: failed to parse private key' };
}

interface FoundBlock {
  readonly der?: Buffer;
  /** Types of the PEM blocks before the one found. */
  readonly skipped: readonly string[];
}

function findBlock(pem: Uint8Array, isWanted: (type: string) => boolean): FoundBlock {
  const skipped: string[] = [];
  for (const { type, bytes } of pemBlocks(pem)) {
    if (isWanted(type)) return { der: bytes, skipped };
    skipped.push(type);
  }
  return { skipped };
}

function certificateProblem(skipped: readonly string[]): string {
  if (skipped.length === 0) return 'tls: failed to find any PEM data in certificate input';
  if (skipped.length === 1 && skipped[0]?.endsWith('PRIVATE KEY')) {
    return 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched';
  }
  return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: ${goList(skipped)}`;
}

function keyProblem(skipped: readonly string[]): string {
  if (skipped.length === 0) return 'tls: failed to find any PEM data in key input';
  if (skipped.length === 1 && skipped[0] === 'CERTIFICATE') {
    return 'tls: found a certificate rather than a key in the PEM for the private key';
  }
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: ${goList(skipped)}`;
}

const goList = (items: readonly string[]): string => `[${items.join(' ')}]`;

function read<T>(attempt: () => T): T | undefined {
  try {
    return attempt();
  } catch {
    return undefined;
  }
}
