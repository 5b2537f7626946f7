import type { LedgerEntrySpec } from '../certificate-ledger.js';
import { kedgeNames } from '../kedge-names.js';
import { type ApiObject, resourceType } from '../object.js';

/** One page of the ledger of issued certificates. Never changed once it is written. */
export interface CertificateLedgerEntry extends ApiObject {
  /** Records of this entry, and its link to the previous one. */
  readonly spec: LedgerEntrySpec;
}

/** The resource `certificateledgerentries` of `certificates.kedge.internal/v1`, cluster-scoped. */
export const CertificateLedgerEntries = resourceType<CertificateLedgerEntry>({
  group: kedgeNames.group,
  version: 'v1',
  plural: 'certificateledgerentries',
  kind: 'CertificateLedgerEntry',
  namespaced: false,
});
