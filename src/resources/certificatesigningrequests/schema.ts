import { keyUsages } from '../../api/kinds/certificate-signing-request.js';
import {
  bytes,
  extraValue,
  field,
  integer32,
  list,
  map,
  optional,
  string,
  structsOf,
  time,
} from '../../schema/builder.js';
import { objectMembers } from '../../schema/meta.js';
import type { Schema } from '../../schema/schema.js';

const struct = structsOf('io.k8s.api.certificates.v1');

const spec = struct(
  'CertificateSigningRequestSpec',
  {
    request: field(1, bytes(), {
      presence: 'always',
      description: 'PKCS#10 certificate signing request, as a PEM block of type CERTIFICATE REQUEST.',
    }),
    signerName: field(7, string(), {
      presence: 'always',
      description:
        'Qualified name of the requested signer, such as example.com/clients. Can be used in field selectors.',
    }),
    expirationSeconds: optional(8, integer32(), {
      description:
        'Requested lifetime of the certificate in seconds, at least 600. The signer may issue a different one.',
    }),
    usages: field(5, list(string({ go: 'v1.KeyUsage', enum: keyUsages }), { listType: 'atomic' }), {
      description: 'Requested key usages of the certificate.',
    }),
    username: field(2, string(), { description: 'Username of the requester; set by the server.' }),
    uid: field(3, string(), { description: 'UID of the requester; set by the server.' }),
    groups: field(4, list(string(), { listType: 'atomic' }), {
      description: 'Groups of the requester; set by the server.',
    }),
    extra: field(6, map(extraValue()), {
      description: 'Extra attributes of the requester; set by the server.',
    }),
  },
  {
    required: ['request', 'signerName'],
    description: 'The requested certificate, and who requested it.',
  },
);

const condition = struct(
  'CertificateSigningRequestCondition',
  {
    type: field(1, string({ go: 'v1.RequestConditionType' }), {
      presence: 'always',
      description: 'Type of the condition: Approved, Denied, Failed, or a custom name; unique in the list.',
    }),
    status: field(6, string({ go: 'v1.ConditionStatus' }), {
      presence: 'always',
      description: 'True, False or Unknown; always True for Approved, Denied and Failed.',
    }),
    reason: field(2, string(), { description: 'Reason for the status, as one word in CamelCase.' }),
    message: field(3, string(), { description: 'Human-readable details.' }),
    lastUpdateTime: field(4, time(), { presence: 'always', description: 'Time of the last update of the condition.' }),
    lastTransitionTime: field(5, time(), {
      presence: 'always',
      description: 'Time of the last change of the status; set by the server if absent.',
    }),
  },
  {
    required: ['type', 'status'],
    description: 'Decision about a request, or observation of its state.',
  },
);

const status = struct(
  'CertificateSigningRequestStatus',
  {
    conditions: field(1, list(condition, { listType: 'map', listMapKeys: ['type'] }), {
      description: 'Conditions of the request. Approved, Denied and Failed cannot be removed once set.',
    }),
    certificate: field(2, bytes(), {
      keepsEmpty: true,
      description: 'Issued certificate in PEM, followed by intermediates. Cannot be changed once set.',
    }),
  },
  { description: 'Decisions about a request, and the issued certificate.' },
);

export const certificateSigningRequestSchema: Schema = struct(
  'CertificateSigningRequest',
  {
    ...objectMembers,
    spec: field(2, spec, { description: 'The requested certificate, and who requested it. Cannot be changed.' }),
    status: field(3, status, { description: 'Decisions about the request, and the issued certificate.' }),
  },
  {
    required: ['spec'],
    description: 'Request for an X.509 certificate, which is approved and signed in two separate steps.',
  },
);
