import { findCondition } from '../../src/api/conditions.js';
import {
  type CertificateSigningRequest,
  type CertificateSigningRequestStatus,
  CertificateSigningRequests,
} from '../../src/api/kinds/certificate-signing-request.js';
import { timestamp } from '../../src/api/time.js';
import type { Runnable } from '../../src/controller/controller.js';
import { readOrGiveUp, requestOutline } from '../../src/controller/csr.js';
import { type SigningOptions, type SigningSpec, signingControllers } from '../../src/controller/signing.js';
import { ledgerRecord } from '../../src/pki/certificate-ledger.js';
import { readCertificateRequest } from '../../src/pki/certificate-request.js';
import { issuedChainProblem } from '../../src/pki/issued-check.js';
import { type SigningRequest, type SigningResult, signingResult } from '../../src/pki/signer.js';
import { isDue, signingRequest } from './signing-request.js';

/** Returns controllers that call signers for approved requests and write their answers; see `signingControllers`. */
export const csrSigners = (options: SigningOptions): readonly Runnable[] => signingControllers(aboutRequests, options);

const aboutRequests: SigningSpec<CertificateSigningRequest, SigningRequest, SigningResult> = {
  name: 'csr-signer',
  for: CertificateSigningRequests,
  signerNameOf: ({ spec }) => spec.signerName ?? '',
  isDue,
  outline: requestOutline,
  question: (csr) => readOrGiveUp(csr, signingRequest),
  sign: (signer, request, signal) => signer.sign(request, signal),
  result: signingResult,
  problemWith: ({ issued }, { request }) => issuedChainProblem(issued, readCertificateRequest(request).publicKey),

  recordOf(csr, issued) {
    const { reason = '', message = '' } = findCondition(csr.status?.conditions, 'Approved') ?? {};
    return ledgerRecord(issued, {
      request: { name: csr.metadata.name ?? '', uid: csr.metadata.uid ?? '' },
      requester: csr.spec.username ?? '',
      approval: { reason, message },
      signerName: csr.spec.signerName ?? '',
    });
  },

  withAnswer: (csr, answer, now) => ({ ...csr, status: statusWith(csr.status ?? {}, answer, timestamp(now)) }),
};

function statusWith(
  status: CertificateSigningRequestStatus,
  answer: SigningResult,
  now: string,
): CertificateSigningRequestStatus {
  if ('issued' in answer) return { ...status, certificate: Buffer.from(answer.issued).toString('base64') };
  const { reason, refused: message } = answer;
  const failed = { type: 'Failed', status: 'True', reason, message, lastUpdateTime: now };
  return { ...status, conditions: [...(status.conditions ?? []), failed] };
}
