import { CertificateLedgerEntries, type CertificateLedgerEntry } from '../../api/kinds/certificate-ledger-entry.js';
import { nameRules } from '../../api/names.js';
import { invalid } from '../../api/violations.js';
import { ledgerEntryProblems } from '../../pki/certificate-ledger.js';
import { defineResource } from '../../registry/resource-definition.js';
import { field, integer64, list, optional, string, struct } from '../../schema/builder.js';
import { objectMembers } from '../../schema/meta.js';
import { age, column } from '../columns.js';

const component = (name: string): { readonly component: string } => ({
  component: `internal.kedge.certificates.v1.${name}`,
});

const record = struct(
  'v1.CertificateRecord',
  {
    request: field(
      1,
      struct('v1.RecordedRequest', {
        name: field(1, string(), { description: 'Name of the CertificateSigningRequest.' }),
        uid: field(2, string(), { description: 'UID of the CertificateSigningRequest.' }),
      }),
      { description: 'The request, which may be gone.' },
    ),
    requester: field(2, string(), { description: 'Who made the request.' }),
    approval: field(
      3,
      struct('v1.RecordedApproval', {
        reason: field(1, string(), { description: 'Reason of the condition Approved.' }),
        message: field(2, string(), { description: 'Message of the condition Approved.' }),
      }),
      { description: 'Who or which rule approved.' },
    ),
    signerName: field(4, string(), { description: 'Who signed.' }),
    caKeyId: field(5, string(), { description: 'Hexadecimal key identifier of the CA.' }),
    serial: field(6, string(), { description: 'Hexadecimal serial number.' }),
    subject: field(7, string(), {
      description: 'Subject: its attributes in their order, with values escaped as in RFC 4514.',
    }),
    names: field(8, list(string()), { description: 'Alternative names, each with its kind before it.' }),
    omittedNames: field(9, integer64(), { description: 'How many names are left out here.' }),
    namesSha256: field(13, string(), {
      description: 'Hexadecimal SHA-256 of all names, a line each, where some are left out.',
    }),
    notBefore: field(10, string(), { description: 'First second it is valid.' }),
    notAfter: field(11, string(), { description: 'Last second it is valid.' }),
    sha256: field(12, string(), { description: 'Hexadecimal SHA-256 of the certificate.' }),
  },
  { description: 'A certificate that was issued.', ...component('CertificateRecord') },
);

const schema = struct(
  'v1.CertificateLedgerEntry',
  {
    ...objectMembers,
    spec: field(
      2,
      struct('v1.CertificateLedgerEntrySpec', {
        sequence: field(1, integer64(), { description: 'Number of the entry, from 1.' }),
        previous: optional(2, string(), { description: 'Hash of the entry before.' }),
        records: field(3, list(record), { description: 'Certificates that were issued.' }),
        hash: field(4, string(), { description: 'SHA-256 of everything else.' }),
      }),
      { description: 'Records, and the link to those before.' },
    ),
  },
  { description: 'A page of the record of issued certificates.', ...component('CertificateLedgerEntry') },
);

/**
 * Definition of certificate ledger entries. They are only ever added: nobody, whatever their rights, can change or
 * remove one through the API. Discovery does not list them, since Kubernetes has no such kind.
 */
export const certificateLedgerEntries = defineResource<CertificateLedgerEntry>({
  ...CertificateLedgerEntries,
  origin: 'built-in',
  undiscovered: true,
  garbageCollected: false,
  schema,
  verbs: ['create', 'get', 'list', 'watch'],
  nameRule: nameRules.dnsSubdomain,
  columns: [
    column(
      'Records',
      'How many certificates the entry records.',
      ({ spec }: CertificateLedgerEntry) => spec?.records?.length ?? 0,
      {
        type: 'integer',
      },
    ),
    column('Hash', 'Hash of the entry.', ({ spec }: CertificateLedgerEntry) => spec?.hash ?? ''),
    age,
  ],
  validate: ({ metadata, spec }) =>
    ledgerEntryProblems(metadata.name ?? '', spec ?? {}).map((problem) =>
      invalid('spec', spec?.sequence ?? 0, problem),
    ),
});
