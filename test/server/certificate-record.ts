import type { LedgerRecord } from '../../src/api/certificate-ledger.js';

/** Returns a typical record of a certificate in a ledger. */
export const certificateRecord = (more: Partial<LedgerRecord>): LedgerRecord => ({
  request: { name: 'r', uid: 'u' },
  requester: 'alice',
  approval: {},
  signerName: 'example.test/a',
  caKeyId: '01',
  serial: '1',
  subject: '',
  notBefore: '2025-01-01T00:00:00Z',
  notAfter: '2026-01-01T00:00:00Z',
  sha256: 'a'.repeat(64),
  ...more,
});
