import {
  type PodCertificateRequest,
  type PodCertificateRequestStatus,
  PodCertificateRequests,
  podCertificateEnding,
} from '../../src/api/kinds/pod-certificate-request.js';
import { timestamp } from '../../src/api/time.js';
import { nodeUserPrefix } from '../../src/api/user.js';
import type { Runnable } from '../../src/controller/controller.js';
import { type SigningOptions, type SigningSpec, signingControllers } from '../../src/controller/signing.js';
import { readPemCertificates } from '../../src/pki/certificate.js';
import { ledgerRecord } from '../../src/pki/certificate-ledger.js';
import { type PodSigningRequest, type PodSigningResult, podSigningResult } from '../../src/pki/pod-signing.js';
import { isStillNew, issuedTimes, problemWithPod } from './issued-times.js';
import { podRequestOutline, podSigningRequest } from './pod-signing-request.js';

/**
 * Returns controllers that call the signers that issue certificates to pods, and write their answers; see
 * `signingControllers`.
 */
export const podCertificateSigners = ({ signers, ...options }: SigningOptions): readonly Runnable[] =>
  signingControllers(aboutPods, { ...options, signers: signers.filter(({ signPod }) => signPod !== undefined) });

const aboutPods: SigningSpec<PodCertificateRequest, PodSigningRequest, PodSigningResult> = {
  name: 'pod-certificate-signer',
  for: PodCertificateRequests,
  signerNameOf: ({ spec }) => spec.signerName ?? '',
  isDue: (request) => podCertificateEnding(request) === undefined,
  outline: podRequestOutline,
  question: podSigningRequest,
  sign: async (signer, request, signal) => signer.signPod?.(request, signal),
  result: podSigningResult,
  problemWith: problemWithPod,
  isFresh: (answer, now) => !('issued' in answer) || isStillNew(answer.issued, now),

  recordOf: ({ metadata, spec }, issued) =>
    ledgerRecord(issued, {
      request: { name: `${metadata.namespace ?? ''}/${metadata.name ?? ''}`, uid: metadata.uid ?? '' },
      requester: `${nodeUserPrefix}${spec.nodeName ?? ''}`,
      approval: {
        reason: PodCertificateRequests.kind,
        message: `pod ${metadata.namespace ?? ''}/${spec.podName ?? ''}`,
      },
      signerName: spec.signerName ?? '',
    }),

  withAnswer: (request, answer, now) => ({ ...request, status: statusOf(answer, timestamp(now)) }),
};

function statusOf(answer: PodSigningResult, lastTransitionTime: string): PodCertificateRequestStatus {
  const ended = (type: string, reason: string, message: string) => ({
    conditions: [{ type, status: 'True', reason, message, lastTransitionTime }],
  });
  if ('refused' in answer) return ended('Denied', answer.reason, answer.refused);
  if ('failed' in answer) return ended('Failed', answer.reason, answer.failed);
  const [leaf] = readPemCertificates(answer.issued);
  if (leaf === undefined) throw new Error('nothing was issued');
  const { notBefore, beginRefreshAt, notAfter } = issuedTimes(leaf, answer.refreshAt);
  return {
    ...ended('Issued', 'Issued', ''),
    certificateChain: answer.issued,
    notBefore: timestamp(notBefore),
    beginRefreshAt: timestamp(beginRefreshAt),
    notAfter: timestamp(notAfter),
  };
}
