import {
  type CertificateSigningRequest,
  CertificateSigningRequests,
  certificatePem,
} from '../../src/api/kinds/certificate-signing-request.js';
import { defineCleaner } from '../../src/controller/cleaner.js';
import type { Runnable } from '../../src/controller/controller.js';
import { readCertificate } from '../../src/pki/certificate.js';
import { firstPemBlock } from '../../src/pki/pem.js';
import { defaultRetention, expiresAt, type RequestRetention } from './expiry.js';

/** Deletes requests that are no longer needed: decided long ago, forgotten, or with an expired certificate. */
export const csrCleaner = ({
  retention = defaultRetention,
}: {
  readonly retention?: RequestRetention;
} = {}): Runnable =>
  defineCleaner({
    name: 'csr-cleaner',
    for: CertificateSigningRequests,
    expiresAt: (csr) => expiresAt(csr, notAfter(csr), retention),
    unchanged: true,
    message: 'deleted a finished certificate request',
  });

/** Returns the end of the certificate in the first PEM block; undefined if that is not a certificate. */
function notAfter(csr: CertificateSigningRequest): number | undefined {
  const block = firstPemBlock(certificatePem(csr) ?? '');
  if (block === undefined) return undefined;
  try {
    return readCertificate(block.bytes).notAfter;
  } catch {
    return undefined;
  }
}
