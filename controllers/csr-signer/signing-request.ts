import {
  type CertificateSigningRequest,
  isApproved,
  isFailed,
  isIssued,
  requestPem,
} from '../../src/api/kinds/certificate-signing-request.js';
import { readCertificateRequest } from '../../src/pki/certificate-request.js';
import { encodePem, firstPemBlock } from '../../src/pki/pem.js';
import type { SigningRequest } from '../../src/pki/signer.js';

/** Whether a request is approved, not denied, not failed, and has no certificate yet. */
export const isDue = (csr: CertificateSigningRequest): boolean => isApproved(csr) && !isFailed(csr) && !isIssued(csr);

/**
 * Returns the input of a signer. Its PEM contains the verified request and nothing else. Throws PkiError for a request
 * that is malformed or whose own signature is invalid.
 */
export function signingRequest(csr: CertificateSigningRequest): SigningRequest {
  const pem = requestPem(csr);
  readCertificateRequest(pem);
  const { username = '', uid, groups = [], extra, signerName = '', usages = [], expirationSeconds } = csr.spec;
  return {
    signerName,
    request: encodePem('CERTIFICATE REQUEST', firstPemBlock(pem)?.bytes ?? Buffer.alloc(0)),
    usages,
    requester: {
      username,
      groups,
      ...(uid === undefined ? {} : { uid }),
      ...(extra === undefined ? {} : { extra }),
    },
    expirationSeconds,
    uid: csr.metadata.uid ?? '',
  };
}
