import {
  defaultPodCertificateSeconds,
  type PodCertificateRequest,
  type PodCertificateRequestSpec,
  podCertificateRange,
} from '../../api/kinds/pod-certificate-request.js';
import { dnsSubdomain } from '../../api/names.js';
import type { JsonObject } from '../../api/object.js';
import { signerNameViolations } from '../../api/signer-name.js';
import type { Steps } from '../../api/steps.js';
import { sortedNames } from '../../api/text-order.js';
import {
  eachInvalid,
  invalid,
  invalidInSteps,
  invalidTypedString,
  tooLong,
  type Violation,
} from '../../api/violations.js';
import { sameInSteps } from '../../schema/same.js';
import { userAnnotationViolations } from '../user-annotations.js';
import { keyViolations } from './key-rules.js';

/** Validation of `spec`: who asks, for which pod, for how long, and with which key. */

const mostUidBytes = 128;

/** Validates the spec of a new request. Signers of the domain `signerDomain` may issue for a day at most. */
export function* newSpecViolations(
  { spec = {} }: Partial<PodCertificateRequest>,
  signerDomain: string,
): Steps<readonly Violation[]> {
  const { signerName = '', podName = '', serviceAccountName = '', nodeName = '' } = spec;
  return [
    ...signerNameViolations('spec.signerName', signerName),
    ...(yield* userAnnotationViolations('spec.unverifiedUserAnnotations', spec.unverifiedUserAnnotations ?? {})),
    ...eachInvalid('spec.podName', podName, dnsSubdomain(podName)),
    ...uidViolations('spec.podUID', spec.podUID),
    ...eachInvalid('spec.serviceAccountName', serviceAccountName, dnsSubdomain(serviceAccountName)),
    ...uidViolations('spec.serviceAccountUID', spec.serviceAccountUID),
    ...dnsSubdomain(nodeName).map((text) => invalidTypedString('spec.nodeName', nodeName, text)),
    ...uidViolations('spec.nodeUID', spec.nodeUID),
    ...lifetimeViolations(spec, podCertificateRange(signerName, signerDomain)),
    ...keyViolations(spec),
  ];
}

const uidViolations = (path: string, uid = ''): readonly Violation[] => [
  ...(uid === '' ? [invalidTypedString(path, uid, 'must not be empty')] : []),
  ...(Buffer.byteLength(uid) > mostUidBytes ? [tooLong(path, mostUidBytes)] : []),
];

function lifetimeViolations(
  { maxExpirationSeconds }: PodCertificateRequestSpec,
  { least, most }: ReturnType<typeof podCertificateRange>,
): readonly Violation[] {
  const seconds = maxExpirationSeconds ?? defaultPodCertificateSeconds;
  return seconds >= least && seconds <= most
    ? []
    : [invalid('spec.maxExpirationSeconds', seconds, `must be in the range [${least}, ${most}]`)];
}

/** Checks that the spec is unchanged. */
export function* changedSpecViolations(
  { spec: next = {} }: Partial<PodCertificateRequest>,
  { spec: previous = {} }: Partial<PodCertificateRequest>,
): Steps<readonly Violation[]> {
  const now = inOwnNames(next);
  if (yield* sameInSteps(now, inOwnNames(previous))) return [];
  return [yield* invalidInSteps('spec', now, 'field is immutable')];
}

/** Returns the spec as Go prints the struct, whose members have only their Go names. */
function inOwnNames(spec: PodCertificateRequestSpec): JsonObject {
  const { unverifiedUserAnnotations: annotations = {} } = spec;
  const names = sortedNames(annotations);
  return {
    SignerName: spec.signerName ?? '',
    PodName: spec.podName ?? '',
    PodUID: spec.podUID ?? '',
    ServiceAccountName: spec.serviceAccountName ?? '',
    ServiceAccountUID: spec.serviceAccountUID ?? '',
    NodeName: spec.nodeName ?? '',
    NodeUID: spec.nodeUID ?? '',
    MaxExpirationSeconds: spec.maxExpirationSeconds ?? defaultPodCertificateSeconds,
    PKIXPublicKey: spec.pkixPublicKey || null,
    ProofOfPossession: spec.proofOfPossession || null,
    StubPKCS10Request: spec.stubPKCS10Request || null,
    UnverifiedUserAnnotations:
      names.length === 0 ? null : Object.fromEntries(names.map((name) => [name, annotations[name] ?? ''])),
  };
}
