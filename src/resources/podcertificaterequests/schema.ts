import { defaultPodCertificateSeconds } from '../../api/kinds/pod-certificate-request.js';
import { bytes, field, integer32, listMap, map, optional, string, structsOf, time } from '../../schema/builder.js';
import { condition, objectMembers } from '../../schema/meta.js';
import type { Schema } from '../../schema/schema.js';

const struct = structsOf('io.k8s.api.certificates.v1beta1');

const uid = () => string({ go: 'types.UID' });

const spec = struct(
  'PodCertificateRequestSpec',
  {
    signerName: field(1, string(), {
      presence: 'always',
      description: 'Signer that is asked, such as example.com/pods. Can be used in field selectors.',
    }),
    podName: field(2, string(), {
      presence: 'always',
      description: 'Pod that the certificate is for. Can be used in field selectors.',
    }),
    podUID: field(3, uid(), { presence: 'always', description: 'UID of the pod.' }),
    serviceAccountName: field(4, string(), {
      presence: 'always',
      description: 'Service account that the pod runs as.',
    }),
    serviceAccountUID: field(5, uid(), { presence: 'always', description: 'UID of the service account.' }),
    nodeName: field(6, string({ go: 'types.NodeName' }), {
      presence: 'always',
      description: 'Node that the pod runs on. Can be used in field selectors.',
    }),
    nodeUID: field(7, uid(), { presence: 'always', description: 'UID of the node.' }),
    maxExpirationSeconds: optional(8, integer32(), {
      default: defaultPodCertificateSeconds,
      description: 'Longest lifetime of the certificate, from an hour to 91 days; signers may issue shorter ones.',
    }),
    pkixPublicKey: field(9, bytes(), {
      presence: 'always',
      description: 'Key to be certified (SubjectPublicKeyInfo in DER). Deprecated: stubPKCS10Request replaces it.',
    }),
    proofOfPossession: field(10, bytes(), {
      presence: 'always',
      description: 'Signature by pkixPublicKey over the UID of the pod. Deprecated with it.',
    }),
    stubPKCS10Request: field(12, bytes(), {
      presence: 'always',
      description:
        'PKCS#10 request in DER with the key to be certified, which has signed it: RSA of 3072 or 4096 bits, P-256, P-384, P-521 or Ed25519.',
    }),
    unverifiedUserAnnotations: field(11, map(string()), {
      description: 'What the author of the pod tells the signer, under names with a domain. Nobody has checked it.',
    }),
  },
  {
    required: [
      'signerName',
      'podName',
      'podUID',
      'serviceAccountName',
      'serviceAccountUID',
      'nodeName',
      'nodeUID',
      'stubPKCS10Request',
    ],
    description: 'What is asked for: a certificate for a key, of a pod.',
  },
);

const status = struct(
  'PodCertificateRequestStatus',
  {
    conditions: field(1, listMap(condition, ['type']), {
      description: 'How the request ended: Issued, Denied or Failed, one at most, with status True.',
    }),
    certificateChain: field(2, string(), {
      description: 'PEM of the certificate, then of intermediates. Stays once set.',
    }),
    notBefore: optional(4, time(), { description: 'When the certificate becomes valid, as it says itself.' }),
    beginRefreshAt: optional(5, time(), { description: 'When the node should ask for the next certificate.' }),
    notAfter: optional(6, time(), { description: 'When the certificate expires, as it says itself.' }),
  },
  { description: 'How the request ended, and what was issued.' },
);

export const podCertificateRequestSchema: Schema = struct(
  'PodCertificateRequest',
  {
    ...objectMembers,
    spec: field(2, spec, { description: 'What is asked for. Cannot be changed.' }),
    status: field(3, status, { description: 'How the request ended, and what was issued.' }),
  },
  {
    required: ['spec'],
    description: 'A request of a node for a certificate of a pod that runs there, answered by a signer.',
  },
);
