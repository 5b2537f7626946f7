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
      { description: 'Request that led to the certificate; it may have been deleted since.' },
    ),
    requester: field(2, string(), { description: 'Username of the requester.' }),
    approval: field(
      3,
      struct('v1.RecordedApproval', {
        reason: field(1, string(), { description: 'Reason of the condition Approved.' }),
        message: field(2, string(), { description: 'Message of the condition Approved.' }),
      }),
      { description: 'Why the request was approved, and by whom or by which rule.' },
    ),
    signerName: field(4, string(), { description: 'Name of the signer that issued the certificate.' }),
    caKeyId: field(5, string(), { description: 'Hexadecimal key identifier of the CA that issued the certificate.' }),
    serial: field(6, string(), { description: 'Hexadecimal serial number of the certificate.' }),
    subject: field(7, string(), {
      description: 'Subject of the certificate: its attributes in order, with values escaped as in RFC 4514.',
    }),
    names: field(8, list(string()), { description: 'Subject alternative names, each prefixed with its type.' }),
    omittedNames: field(9, integer64(), { description: 'Number of names that are not listed here.' }),
    namesSha256: field(13, string(), {
      description: 'Hexadecimal SHA-256 of all names, one per line; set only if some are omitted.',
    }),
    notBefore: field(10, string(), { description: 'Start of the validity period of the certificate.' }),
    notAfter: field(11, string(), { description: 'End of the validity period of the certificate.' }),
    sha256: field(12, string(), { description: 'Hexadecimal SHA-256 of the certificate.' }),
  },
  { description: 'Record of one issued certificate.', ...component('CertificateRecord') },
);

const schema = struct(
  'v1.CertificateLedgerEntry',
  {
    ...objectMembers,
    spec: field(
      2,
      struct('v1.CertificateLedgerEntrySpec', {
        sequence: field(1, integer64(), { description: 'Sequence number of the entry, starting at 1.' }),
        previous: optional(2, string(), { description: 'Hash of the previous entry.' }),
        records: field(3, list(record), { description: 'Records of the certificates that were issued.' }),
        hash: field(4, string(), { description: 'SHA-256 hash of the other fields.' }),
      }),
      { description: 'Records of this entry, and its link to the previous one.' },
    ),
  },
  { description: 'One page of the ledger of issued certificates.', ...component('CertificateLedgerEntry') },
);

/**
 * The definition of certificate ledger entries. Entries are only created: no user can change or delete one through the
 * API, whatever their permissions; the server may remove old ones (see ledger-retention.ts). Discovery does not list
 * them, because Kubernetes has no such kind.
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
