import { ledgerEntryName } from '../../api/certificate-ledger.js';
import { conflict } from '../../api/errors.js';
import { CertificateLedgerEntries, type CertificateLedgerEntry } from '../../api/kinds/certificate-ledger-entry.js';
import { isType } from '../../api/object.js';
import type { ObjectSource } from '../../auth/object-source.js';
import type { AdmissionStep } from '../admission-step.js';

/**
 * Checks that an entry of the certificate ledger follows the previous one. Otherwise there would be a gap that could
 * never be filled, and the chain would remain broken. If two writers create the same entry, only the first of them
 * succeeds, because both entries have the same name.
 */
export const certificateLedger = ({ objects }: { readonly objects: ObjectSource }): AdmissionStep => ({
  name: 'CertificateLedger',

  handles: ({ operation, resource }) => operation === 'CREATE' && isType(resource, CertificateLedgerEntries),

  async validate({ object }) {
    const { sequence, previous } = (object as CertificateLedgerEntry).spec;
    const { group, plural } = CertificateLedgerEntries;
    const subject = { group, plural, name: ledgerEntryName(sequence) };
    if (sequence === 1) {
      // The first entry may have been removed since.
      if (await objects.hasAny(CertificateLedgerEntries)) throw conflict(subject, 'it is not the first entry');
      return;
    }
    const before = await objects.get(CertificateLedgerEntries, { name: ledgerEntryName(sequence - 1) });
    if (before?.spec.hash !== previous) throw conflict(subject, `it does not continue entry ${sequence - 1}`);
  },
});
