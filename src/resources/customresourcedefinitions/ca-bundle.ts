import { invalid, type Violation } from '../../api/violations.js';
import { PkiError } from '../../pki/pki-error.js';
import { readRootCertificates } from '../../pki/root-certificates.js';

/** Checks that a webhook's CA bundle has a readable certificate. `bundle` is PEM in base64. */
export function validateCaBundle(path: string, bundle: string): readonly Violation[] {
  try {
    readRootCertificates(Buffer.from(bundle, 'base64'));
    return [];
  } catch (error) {
    if (!(error instanceof PkiError)) throw error;
    return [invalid(path, bundle, `unable to load root certificates: ${error.message}`)];
  }
}
