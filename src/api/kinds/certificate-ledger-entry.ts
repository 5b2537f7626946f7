import type { LedgerEntrySpec } from '../certificate-ledger.js';
import { kedgeNames } from '../kedge-names.js';
import { type ApiObject, resourceType } from '../object.js';

/** A page of the ledger of issued certificates. Written once, never changed, never deleted. */
export interface CertificateLedgerEntry extends ApiObject {
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
