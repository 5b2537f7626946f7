import { type Domains, defaultDomains } from '../../api/domains.js';
import {
  type CertificateSigningRequest,
  type CertificateSigningRequestSpec,
  CertificateSigningRequests,
} from '../../api/kinds/certificate-signing-request.js';
import { nameRules } from '../../api/names.js';
import type { Steps } from '../../api/steps.js';
import { humanDuration } from '../../api/time.js';
import type { UserInfo } from '../../api/user.js';
import { forbiddenField, invalid, type Violation } from '../../api/violations.js';
import { wellKnownSigners } from '../../api/well-known-signers.js';
import { type Column, defineResource, type ResourceDefinition } from '../../registry/resource-definition.js';
import { age, column } from '../columns.js';
import { certificateProblem } from './certificate-rules.js';
import {
  conditionsOf,
  conditionViolations,
  toleratedConditions,
  transitionViolations,
  withPreviousDecisions,
  withTimes,
} from './conditions.js';
import { certificateSigningRequestSchema } from './schema.js';
import { specViolations } from './spec-rules.js';

/** Returns the spec as sent, with the identity of the requester. */
function requestedBy(spec: CertificateSigningRequestSpec | undefined, user: UserInfo): CertificateSigningRequestSpec {
  const { username: _u, uid: _i, groups: _g, extra: _e, ...asked } = spec ?? {};
  const extra = Object.keys(user.extra ?? {}).length > 0 ? user.extra : undefined;
  return {
    ...asked,
    username: user.username,
    ...(user.uid ? { uid: user.uid } : {}),
    ...(user.groups.length > 0 ? { groups: user.groups } : {}),
    ...(extra ? { extra } : {}),
  };
}

/** Returns Approved, Denied or Pending, followed by Failed and Issued as they apply. */
function conditionText(csr: CertificateSigningRequest): string {
  const types = new Set(conditionsOf(csr).map(({ type }) => type));
  return [
    types.has('Denied') ? 'Denied' : types.has('Approved') ? 'Approved' : 'Pending',
    ...(types.has('Failed') ? ['Failed'] : []),
    ...(csr.status?.certificate ? ['Issued'] : []),
  ].join(',');
}

function durationText({ spec }: CertificateSigningRequest): string {
  const seconds = spec?.expirationSeconds;
  return seconds === undefined || seconds === null ? '<none>' : humanDuration(seconds * 1_000);
}

// Descriptions of columns go over the wire, in Kubernetes' words.
const columns: readonly Column<CertificateSigningRequest>[] = [
  age,
  column(
    'SignerName',
    'Requested signer for the request. It is a qualified name in the form: `scope-hostname.io/name`. If empty, it will be defaulted:\n 1. If it\'s a kubelet client certificate, it is assigned\n    "kubernetes.io/kube-apiserver-client-kubelet".\n 2. If it\'s a kubelet serving certificate, it is assigned\n    "kubernetes.io/kubelet-serving".\n 3. Otherwise, it is assigned "kubernetes.io/legacy-unknown".\nDistribution of trust for signers happens out of band. You can select on this field using `spec.signerName`.',
    ({ spec }: CertificateSigningRequest) => spec?.signerName || '<none>',
  ),
  column('Requestor', 'Base64-encoded PKCS#10 CSR data', ({ spec }: CertificateSigningRequest) => spec?.username ?? ''),
  column(
    'RequestedDuration',
    'expirationSeconds is the requested duration of validity of the issued certificate. The certificate signer may issue a certificate with a different validity duration so a client must check the delta between the notBefore and and notAfter fields in the issued certificate to determine the actual duration.\n\nThe v1.22+ in-tree implementations of the well-known Kubernetes signers will honor this field as long as the requested duration is not greater than the maximum duration they will honor per the --cluster-signing-duration CLI flag to the Kubernetes controller manager.\n\nCertificate signers may not honor this field for various reasons:\n\n  1. Old signer that is unaware of the field (such as the in-tree\n     implementations prior to v1.22)\n  2. Signer whose configured maximum is shorter than the requested duration\n  3. Signer whose configured minimum is longer than the requested duration\n\nThe minimum valid value for expirationSeconds is 600, i.e. 10 minutes.',
    durationText,
  ),
  column('Condition', 'Conditions applied to the request, such as approval or denial.', conditionText),
];

/** Validates the certificate. A malformed one passes if it is unchanged or if the stored one is malformed too. */
function* certificateViolations(
  next: CertificateSigningRequest,
  previous: CertificateSigningRequest | undefined,
): Steps<readonly Violation[]> {
  const [now, before] = [next.status?.certificate ?? '', previous?.status?.certificate ?? ''];
  if (now === before) return [];
  const problem = yield* certificateProblem(now);
  if (problem === undefined || (yield* certificateProblem(before)) !== undefined) return [];
  return [invalid('status.certificate', '<certificate data>', problem)];
}

/**
 * Returns the definition of CertificateSigningRequest, whose group and well-known signers these domains name. `updated`
 * is called for each update.
 */
export function certificateSigningRequestDefinition(
  domains: Domains = defaultDomains,
  updated: (next: CertificateSigningRequest, previous: CertificateSigningRequest) => void = () => {},
): ResourceDefinition<CertificateSigningRequest> {
  const [legacyUnknown] = wellKnownSigners(domains)['legacy-unknown'];

  /** Validates what every write must satisfy, in the order in which causes are reported. */
  function* contents(
    next: CertificateSigningRequest,
    previous: CertificateSigningRequest | undefined,
  ): Steps<readonly Violation[]> {
    return [
      ...specViolations(next, previous, { legacyUnknown }),
      ...conditionViolations(next, toleratedConditions(previous)),
      ...(yield* certificateViolations(next, previous)),
    ];
  }

  function* update(
    next: CertificateSigningRequest,
    previous: CertificateSigningRequest,
    options: { readonly mayDecide: boolean },
  ): Steps<readonly Violation[]> {
    const issued = previous.status?.certificate ?? '';
    return [
      ...(yield* contents(next, previous)),
      ...transitionViolations(next, previous, options),
      ...(issued !== '' && (next.status?.certificate ?? '') !== issued
        ? [forbiddenField('status.certificate', 'updates may not modify existing certificate content')]
        : []),
    ];
  }

  return defineResource<CertificateSigningRequest>({
    ...CertificateSigningRequests,
    group: `certificates.${domains.api}`,
    origin: 'built-in',
    schema: certificateSigningRequestSchema,
    nameRule: nameRules.any,
    updateRules: ['metadata', 'contents', 'metadata change'],
    unconditionalUpdate: true,
    selectableFields: { 'spec.signerName': ({ spec }) => spec?.signerName ?? '' },
    columns,
    resetFields: [['spec'], ['status']],
    updated,

    prepare: (next, previous, { user }) =>
      previous === undefined
        ? { ...next, spec: requestedBy(next.spec, user), status: {} }
        : { ...next, spec: previous.spec, status: previous.status ?? {} },

    validate: (next, previous) =>
      previous === undefined ? contents(next, undefined) : update(next, previous, { mayDecide: false }),

    subresources: {
      approval: {
        type: 'view',
        tables: false,
        resetFields: [['spec'], ['status', 'certificate']],
        prepare: (next, previous, { now }) => {
          const { certificate: _, ...status } = withTimes(next.status ?? {}, previous, now);
          const certificate = previous.status?.certificate;
          return { ...next, spec: previous.spec, status: { ...status, ...(certificate ? { certificate } : {}) } };
        },
        validate: (next, previous) => update(next, previous, { mayDecide: true }),
      },
      status: {
        type: 'view',
        resetFields: [['spec'], ['status', 'conditions']],
        prepare: (next, previous, { now }) => ({
          ...next,
          spec: previous.spec,
          status: withTimes(withPreviousDecisions(next.status ?? {}, previous), previous, now),
        }),
        validate: (next, previous) => update(next, previous, { mayDecide: false }),
      },
    },
  });
}
