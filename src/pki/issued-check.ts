import { messageOf } from '../api/message-of.js';
import { readCertificate } from './certificate.js';
import { pemBlocks } from './pem.js';
import type { PublicKey } from './public-key.js';

/**
 * Returns why an issued chain must not be returned to the requester: it does not consist of PEM certificates without
 * headers, or is not for the requested key.
 */
export function issuedChainProblem(issued: string, { spki }: Pick<PublicKey, 'spki'>): string | undefined {
  const blocks = [...pemBlocks(issued)];
  if (blocks.length === 0) return 'the signer issued no PEM';
  const other = blocks.find(({ type }) => type !== 'CERTIFICATE');
  if (other !== undefined) return `the signer issued a block of type ${other.type}`;
  if (blocks.some(({ hasHeaders }) => hasHeaders)) return 'the signer issued a block with headers';
  try {
    const [leaf] = blocks.map(({ bytes }) => readCertificate(bytes));
    return spki.length > 0 && leaf?.publicKey.spki.equals(spki)
      ? undefined
      : 'the signer issued a certificate for another key';
  } catch (error) {
    return `the signer issued a certificate that cannot be read: ${messageOf(error)}`;
  }
}
