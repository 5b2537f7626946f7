import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { pemBlocks } from '../pki/pem.js';

/** What signers issue, as contracts look at it: by Node.js, and not by what issued it. */

export type Chain = readonly [X509Certificate, ...X509Certificate[]];

/** The certificates of a PEM text that holds nothing else. */
export function certificates(pem: string): Chain {
  const blocks = [...pemBlocks(pem)];
  assert.ok(
    blocks.every(({ type, hasHeaders }) => type === 'CERTIFICATE' && !hasHeaders),
    'not only CERTIFICATE blocks',
  );
  const [first, ...others] = blocks.map(({ bytes }) => new X509Certificate(bytes));
  assert.ok(first, 'there is no certificate');
  return [first, ...others];
}

/** Is the last of the chain an anchor, or issued by one? */
export const isAnchored = (chain: Chain, anchors: Chain): boolean => {
  const top = chain.at(-1) ?? chain[0];
  return anchors.some((anchor) => anchor.raw.equals(top.raw) || top.verify(anchor.publicKey));
};

/** The key of a certificate: SubjectPublicKeyInfo, hexadecimal. */
export const spki = (certificate: X509Certificate): string =>
  certificate.publicKey.export({ type: 'spki', format: 'der' }).toString('hex');
