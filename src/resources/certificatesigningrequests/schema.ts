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
      description: 'PKCS#10 request in a PEM block CERTIFICATE REQUEST.',
    }),
    signerName: field(7, string(), {
      presence: 'always',
      description:
        'Qualified name of the signer that is asked, such as example.com/clients. Can be used in field selectors.',
    }),
    expirationSeconds: optional(8, integer32(), {
      description: 'Lifetime asked for; at least 600. The signer may grant another.',
    }),
    usages: field(5, list(string({ go: 'v1.KeyUsage', enum: keyUsages }), { listType: 'atomic' }), {
      description: 'What the certificate is to be used for.',
    }),
    username: field(2, string(), { description: 'Who made the request; set by the server.' }),
    uid: field(3, string(), { description: 'UID of who made the request; set by the server.' }),
    groups: field(4, list(string(), { listType: 'atomic' }), {
      description: 'Groups of who made the request; set by the server.',
    }),
    extra: field(6, map(extraValue()), {
      description: 'What else is known of who made the request; set by the server.',
    }),
  },
  {
    required: ['request', 'signerName'],
    description: 'What is asked for, and by whom.',
  },
);

const condition = struct(
  'CertificateSigningRequestCondition',
  {
    type: field(1, string({ go: 'v1.RequestConditionType' }), {
      presence: 'always',
      description: 'Approved, Denied, Failed, or a name of somebody\u2019s own; each once.',
    }),
    status: field(6, string({ go: 'v1.ConditionStatus' }), {
      presence: 'always',
      description: 'True, False or Unknown; True for Approved, Denied and Failed.',
    }),
    reason: field(2, string(), { description: 'One CamelCase word saying why.' }),
    message: field(3, string(), { description: 'Details for people.' }),
    lastUpdateTime: field(4, time(), { presence: 'always', description: 'When the condition was last written.' }),
    lastTransitionTime: field(5, time(), {
      presence: 'always',
      description: 'When the status last changed; set by the server if absent.',
    }),
  },
  {
    required: ['type', 'status'],
    description: 'One decision or observation about a request.',
  },
);

const status = struct(
  'CertificateSigningRequestStatus',
  {
    conditions: field(1, list(condition, { listType: 'map', listMapKeys: ['type'] }), {
      description: 'Decisions about the request. Approved, Denied and Failed stay once set.',
    }),
    certificate: field(2, bytes(), {
      keepsEmpty: true,
      description: 'PEM of the certificate, then of intermediates. Stays once set.',
    }),
  },
  { description: 'Decisions about a request, and what was issued.' },
);

export const certificateSigningRequestSchema: Schema = struct(
  'CertificateSigningRequest',
  {
    ...objectMembers,
    spec: field(2, spec, { description: 'What is asked for, and by whom. Cannot be changed.' }),
    status: field(3, status, { description: 'Decisions about the request, and what was issued.' }),
  },
  {
    required: ['spec'],
    description: 'A request for an X.509 certificate, approved by one party and issued by another.',
  },
);
