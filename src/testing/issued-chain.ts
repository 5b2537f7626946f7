import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { pemBlocks } from '../pki/pem.js';

/** Certificates issued by signers, as read by Node.js, independently of the code that issued them. */

export type Chain = readonly [X509Certificate, ...X509Certificate[]];

/** Parses the certificates of a PEM text, which must hold nothing else. */
export function certificates(pem: string): Chain {
  const blocks = [...pemBlocks(pem)];
  assert.ok(
    blocks.every(({ type, hasHeaders }) => type === 'CERTIFICATE' && !hasHeaders),
    'not only CERTIFICATE blocks',
  );
  const [first, ...others] = blocks.map(({ bytes }) => new X509Certificate(bytes));
  assert.ok(first, 'no certificate');
  return [first, ...others];
}

/** Whether the last certificate of the chain is an anchor, or was issued by one. */
export const isAnchored = (chain: Chain, anchors: Chain): boolean => {
  const top = chain.at(-1) ?? chain[0];
  return anchors.some((anchor) => anchor.raw.equals(top.raw) || top.verify(anchor.publicKey));
};

/** Returns the public key of a certificate: SubjectPublicKeyInfo in hexadecimal. */
export const spki = (certificate: X509Certificate): string =>
  certificate.publicKey.export({ type: 'spki', format: 'der' }).toString('hex');
