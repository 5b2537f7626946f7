import { type Domains, defaultDomains } from '../../api/domains.js';
import {
  type PodCertificateRequest,
  PodCertificateRequests,
  podCertificateEnding,
} from '../../api/kinds/pod-certificate-request.js';
import { sortedNames } from '../../api/text-order.js';
import { resetForStatus } from '../../registry/metadata-rules.js';
import { type Column, defineResource, type ResourceDefinition } from '../../registry/resource-definition.js';
import { column } from '../columns.js';
import { podCertificateRequestSchema } from './schema.js';
import { changedSpecViolations, newSpecViolations } from './spec-rules.js';
import { statusViolations } from './status-rules.js';

const annotationsText = ({ spec }: PodCertificateRequest): string => {
  const annotations = spec?.unverifiedUserAnnotations ?? {};
  const texts = sortedNames(annotations).map((name) => `${name}=${annotations[name]}`);
  return texts.join(',') || '<none>';
};

// Descriptions of columns go over the wire, in Kubernetes' words.
const columns: readonly Column<PodCertificateRequest>[] = [
  column(
    'PodName',
    'podName is the name of the pod into which the certificate will be mounted.',
    ({ spec }: PodCertificateRequest) => spec?.podName ?? '',
  ),
  column(
    'ServiceAccountName',
    'serviceAccountName is the name of the service account the pod is running as.',
    ({ spec }: PodCertificateRequest) => spec?.serviceAccountName ?? '',
  ),
  column(
    'NodeName',
    'nodeName is the name of the node the pod is assigned to.',
    ({ spec }: PodCertificateRequest) => spec?.nodeName ?? '',
  ),
  column(
    'SignerName',
    'signerName indicates the requested signer.\n\nAll signer names beginning with `kubernetes.io` are reserved for use by the Kubernetes project.  There is currently one well-known signer documented by the Kubernetes project, `kubernetes.io/kube-apiserver-client-pod`, which will issue client certificates understood by kube-apiserver.  It is currently unimplemented.',
    ({ spec }: PodCertificateRequest) => spec?.signerName ?? '',
  ),
  column(
    'State',
    'Is the request Pending, Issued, Denied, or Failed?',
    (request: PodCertificateRequest) => podCertificateEnding(request) ?? 'Pending',
  ),
  column(
    'UnverifiedUserAnnotations',
    'unverifiedUserAnnotations allow pod authors to pass additional information to the signer implementation.  Kubernetes does not restrict or validate this metadata in any way.\n\nEntries are subject to the same validation as object metadata annotations, with the addition that all keys must be domain-prefixed. No restrictions are placed on values, except an overall size limitation on the entire field.\n\nSigners should document the keys and values they support.  Signers should deny requests that contain keys they do not recognize.',
    annotationsText,
  ),
];

/**
 * Returns the definition of PodCertificateRequest. These domains name its group, and the signers whose certificates may
 * only live for a day.
 */
export const podCertificateRequestDefinition = (
  domains: Domains = defaultDomains,
): ResourceDefinition<PodCertificateRequest> =>
  defineResource<PodCertificateRequest>({
    ...PodCertificateRequests,
    group: `certificates.${domains.api}`,
    origin: 'built-in',
    schema: podCertificateRequestSchema,
    updateRules: ['metadata change', 'contents'],
    selectsNamespace: false,
    selectableFields: {
      'spec.signerName': ({ spec }) => spec?.signerName ?? '',
      'spec.podName': ({ spec }) => spec?.podName ?? '',
      'spec.nodeName': ({ spec }) => spec?.nodeName ?? '',
    },
    columns,

    prepare: (next, previous) => ({ ...next, status: previous?.status ?? {} }),
    validate: (next, previous) =>
      previous === undefined ? newSpecViolations(next, domains.signer) : changedSpecViolations(next, previous),

    subresources: {
      status: {
        type: 'view',
        resetFields: [['spec']],
        prepare: (next, previous) => ({
          ...next,
          metadata: resetForStatus(next.metadata, previous.metadata),
          spec: previous.spec,
        }),
        validate: (next, previous, { now }, known) =>
          known?.inMetadata?.length ? [] : statusViolations(next, previous, now),
      },
    },
  });
