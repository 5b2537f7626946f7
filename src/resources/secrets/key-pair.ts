import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { pemBlocks } from '../../pki/pem.js';

/**
 * What Go's `tls.X509KeyPair` says about a PEM certificate chain and a PEM private key; undefined if they belong
 * together. The texts go over the wire.
 */
export function keyPairProblem(certificate: Uint8Array, key: Uint8Array): string | undefined {
  const leaf = findBlock(certificate, (type) => type === 'CERTIFICATE');
  if (leaf.der === undefined) return certificateProblem(leaf.skipped);
  const secret = findBlock(key, (type) => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY'));
  if (secret.der === undefined) return keyProblem(secret.skipped);
  const { der } = leaf;
  const parsed = read(() => new X509Certificate(der));
  const publicKey = parsed === undefined ? undefined : read(() => parsed.publicKey);
  if (parsed === undefined || publicKey === undefined) return 'x509: malformed certificate';
  const privateKey = readPrivateKey(secret.der);
  if (privateKey === undefined) return 'tls: failed to parse private key';
  if (privateKey.asymmetricKeyType !== publicKey.asymmetricKeyType) {
    return 'tls: private key type does not match public key type';
  }
  return parsed.checkPrivateKey(privateKey) ? undefined : 'tls: private key does not match public key';
}

interface Found {
  readonly der?: Buffer;
  /** Types of the blocks before it. */
  readonly skipped: readonly string[];
}

function findBlock(pem: Uint8Array, wanted: (type: string) => boolean): Found {
  const skipped: string[] = [];
  for (const { type, bytes } of pemBlocks(pem)) {
    if (wanted(type)) return { der: bytes, skipped };
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

/** Whatever the label says, the forms are tried in Go's order: PKCS #1, PKCS #8, SEC 1. */
const readPrivateKey = (der: Buffer): KeyObject | undefined =>
  read(() => createPrivateKey({ key: der, format: 'der', type: 'pkcs1' })) ??
  read(() => createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })) ??
  read(() => createPrivateKey({ key: der, format: 'der', type: 'sec1' }));

function read<T>(attempt: () => T): T | undefined {
  try {
    return attempt();
  } catch {
    return undefined;
  }
}
