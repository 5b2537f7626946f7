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
      description: 'Qualified name of the requested signer, such as example.com/pods. Can be used in field selectors.',
    }),
    podName: field(2, string(), {
      presence: 'always',
      description: 'Name of the pod that the certificate is for. Can be used in field selectors.',
    }),
    podUID: field(3, uid(), { presence: 'always', description: 'UID of the pod.' }),
    serviceAccountName: field(4, string(), {
      presence: 'always',
      description: 'Name of the service account that the pod runs as.',
    }),
    serviceAccountUID: field(5, uid(), { presence: 'always', description: 'UID of the service account.' }),
    nodeName: field(6, string({ go: 'types.NodeName' }), {
      presence: 'always',
      description: 'Name of the node that the pod runs on. Can be used in field selectors.',
    }),
    nodeUID: field(7, uid(), { presence: 'always', description: 'UID of the node.' }),
    maxExpirationSeconds: optional(8, integer32(), {
      default: defaultPodCertificateSeconds,
      description:
        'Maximum lifetime in seconds, 3600 to 7862400 (91 days); 86400 by default. Signers may issue shorter ones.',
    }),
    pkixPublicKey: field(9, bytes(), {
      presence: 'always',
      description: 'Public key to be certified (SubjectPublicKeyInfo in DER). Deprecated: use stubPKCS10Request.',
    }),
    proofOfPossession: field(10, bytes(), {
      presence: 'always',
      description:
        'Signature over the UID of the pod, made with the key of pkixPublicKey. Deprecated: use stubPKCS10Request.',
    }),
    stubPKCS10Request: field(12, bytes(), {
      presence: 'always',
      description:
        'PKCS#10 request in DER, signed by the key to be certified: RSA (3072 or 4096 bits), P-256, P-384, P-521 or Ed25519.',
    }),
    unverifiedUserAnnotations: field(11, map(string()), {
      description:
        "Information from the pod's author for the signer, under domain-prefixed keys. Not verified by anyone.",
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
    description: 'Public key to be certified, and the pod that it belongs to.',
  },
);

const status = struct(
  'PodCertificateRequestStatus',
  {
    conditions: field(1, listMap(condition, ['type']), {
      description: 'Outcome of the request: at most one of Issued, Denied and Failed, with status True.',
    }),
    certificateChain: field(2, string(), {
      description: 'Issued certificate in PEM, followed by intermediates. Cannot be changed once set.',
    }),
    notBefore: optional(4, time(), {
      description: 'Start of the validity period; must equal notBefore of the certificate.',
    }),
    beginRefreshAt: optional(5, time(), {
      description: 'Time from which the kubelet should request the next certificate.',
    }),
    notAfter: optional(6, time(), {
      description: 'End of the validity period; must equal notAfter of the certificate.',
    }),
  },
  { description: 'Outcome of a request, and the issued certificate.' },
);

export const podCertificateRequestSchema: Schema = struct(
  'PodCertificateRequest',
  {
    ...objectMembers,
    spec: field(2, spec, { description: 'The requested certificate. Cannot be changed.' }),
    status: field(3, status, { description: 'Outcome of the request, and the issued certificate.' }),
  },
  {
    required: ['spec'],
    description: 'Request of a node for a certificate that identifies a pod running on it, to be issued by a signer.',
  },
);
