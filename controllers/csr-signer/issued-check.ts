import { readCertificate } from '../../src/pki/certificate.js';
import { readCertificateRequest } from '../../src/pki/certificate-request.js';
import { pemBlocks } from '../../src/pki/pem.js';
import type { SigningRequest } from '../../src/pki/signer.js';

/** Why what a signer answered must not be handed out: not PEM certificates without headers, or not for the key that asked. */
export function problemWith(issued: string, request: SigningRequest): string | undefined {
  const blocks = [...pemBlocks(issued)];
  const [leaf] = blocks;
  if (leaf === undefined) return 'the signer issued no PEM';
  const other = blocks.find(({ type }) => type !== 'CERTIFICATE');
  if (other !== undefined) return `the signer issued a block of type ${other.type}`;
  if (blocks.some(({ hasHeaders }) => hasHeaders)) return 'the signer issued a block with headers';
  try {
    for (const { bytes } of blocks) readCertificate(bytes);
    const asked = readCertificateRequest(request.request).publicKey.spki;
    const { spki } = readCertificate(leaf.bytes).publicKey;
    return spki.length > 0 && asked.equals(spki) ? undefined : 'the signer issued a certificate for another key';
  } catch (error) {
    return `the signer issued what cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}
