import { messageOf } from '../../src/api/message-of.js';
import { readCertificate } from '../../src/pki/certificate.js';
import { readCertificateRequest } from '../../src/pki/certificate-request.js';
import { pemBlocks } from '../../src/pki/pem.js';
import type { SigningRequest } from '../../src/pki/signer.js';

/** Why what a signer answered must not be handed out: not PEM certificates without headers, or not for the key that asked. */
export function problemWith(issued: string, request: SigningRequest): string | undefined {
  const blocks = [...pemBlocks(issued)];
  if (blocks.length === 0) return 'the signer issued no PEM';
  const other = blocks.find(({ type }) => type !== 'CERTIFICATE');
  if (other !== undefined) return `the signer issued a block of type ${other.type}`;
  if (blocks.some(({ hasHeaders }) => hasHeaders)) return 'the signer issued a block with headers';
  try {
    const [leaf] = blocks.map(({ bytes }) => readCertificate(bytes));
    const { spki } = readCertificateRequest(request.request).publicKey;
    return spki.length > 0 && leaf?.publicKey.spki.equals(spki)
      ? undefined
      : 'the signer issued a certificate for another key';
  } catch (error) {
    return `the signer issued what cannot be read: ${messageOf(error)}`;
  }
}
