import { invalid, type Violation } from '../../api/violations.js';
import { readCertificate } from '../../pki/certificate.js';
import { pemBlocks } from '../../pki/pem.js';
import { PkiError } from '../../pki/pki-error.js';

/** What is wrong with the CAs of a webhook: one certificate must be readable. `bundle` is PEM in base64. */
export function validateCaBundle(path: string, bundle: string): readonly Violation[] {
  let why: string | undefined;
  for (const { type, bytes } of pemBlocks(Buffer.from(bundle, 'base64'))) {
    try {
      if (type === 'CERTIFICATE') {
        readCertificate(bytes);
        return [];
      }
      why ??= `unable to parse PEM block of type ${type}`;
    } catch (error) {
      if (!(error instanceof PkiError)) throw error;
      why ??= `failed to parse certificate: ${error.message}`;
    }
  }
  return [invalid(path, bundle, `unable to load root certificates: ${why ?? 'unable to parse bytes as PEM block'}`)];
}
