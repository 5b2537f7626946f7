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

/** Approved, not denied, not failed, and nothing issued yet. */
export const isDue = (csr: CertificateSigningRequest): boolean => isApproved(csr) && !isFailed(csr) && !isIssued(csr);

/**
 * Returns the input of a signer. The PEM holds the verified request and nothing else, whatever stood around it.
 * Throws PkiError for a request that cannot be read or whose own signature is wrong.
 */
export function signingRequest(csr: CertificateSigningRequest): SigningRequest {
  const given = requestPem(csr);
  readCertificateRequest(given);
  const { username = '', uid, groups = [], extra, signerName = '', usages = [], expirationSeconds } = csr.spec;
  return {
    signerName,
    request: encodePem('CERTIFICATE REQUEST', firstPemBlock(given)?.bytes ?? Buffer.alloc(0)),
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
