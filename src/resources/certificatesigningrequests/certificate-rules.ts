import { quote } from '../../api/go-text.js';
import type { Steps } from '../../api/steps.js';
import { readCertificates } from '../../pki/certificate.js';
import { pemBlocks } from '../../pki/pem.js';
import { PkiError } from '../../pki/pki-error.js';

/**
 * Returns the first fault of an issued certificate; undefined if there is none or no certificate at all. The
 * certificate must consist of PEM blocks CERTIFICATE without headers, each of them X.509; text around them is allowed.
 */
export function* certificateProblem(base64: string | undefined): Steps<string | undefined> {
  if (!base64) return undefined;
  let blocks = 0;
  for (const { type, hasHeaders, bytes } of pemBlocks(Buffer.from(base64, 'base64'))) {
    blocks++;
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${quote(type)}`;
    if (hasHeaders) return 'no PEM block headers are permitted';
    const problem = contentProblem(bytes);
    if (problem !== undefined) return problem;
    yield;
  }
  return blocks === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined;
}

function contentProblem(der: Buffer): string | undefined {
  try {
    return readCertificates(der).length === 0 ? 'found CERTIFICATE PEM block containing 0 certificates' : undefined;
  } catch (error) {
    if (error instanceof PkiError) return error.message;
    throw error;
  }
}
