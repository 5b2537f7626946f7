import { describe, expect, test } from 'vitest';
import type { AdmissionAttributes } from '../../../src/admission/admission-step.js';
import { certificateLedger } from '../../../src/admission/steps/certificate-ledger.js';
import { type LedgerEntrySpec, ledgerEntryName } from '../../../src/api/certificate-ledger.js';
import { CertificateLedgerEntries } from '../../../src/api/kinds/certificate-ledger-entry.js';
import { ConfigMaps } from '../../../src/api/kinds/config-map.js';
import type { ApiObject, ResourceType } from '../../../src/api/object.js';
import { FixedObjects } from '../../auth/fixed-objects.js';

const spec = (sequence: number, previous?: string): LedgerEntrySpec => ({
  sequence,
  ...(previous === undefined ? {} : { previous }),
  records: [],
  hash: `hash ${sequence}`,
});
const objects = new FixedObjects().put(CertificateLedgerEntries, {
  metadata: { name: ledgerEntryName(1) },
  spec: spec(1),
});
const step = certificateLedger({ objects });
const creating = (entry: LedgerEntrySpec): AdmissionAttributes => ({
  operation: 'CREATE',
  resource: CertificateLedgerEntries as ResourceType<ApiObject>,
  subresource: undefined,
  key: { name: ledgerEntryName(entry.sequence) },
  object: { apiVersion: '', kind: '', metadata: {}, spec: entry } as ApiObject,
  previous: undefined,
  user: { username: 'u', groups: [] },
  dryRun: false,
  warn: () => {},
});

describe('an entry of the ledger', () => {
  test('may continue the last one', async () => {
    await step.validate?.(creating(spec(2, 'hash 1')));
  });

  test('may be the first one if there is none', async () => {
    const empty = certificateLedger({ objects: new FixedObjects() });
    await empty.validate?.(creating(spec(1)));
  });

  test('may not be the first one if there are later ones, because the first may have been removed', async () => {
    const later = new FixedObjects().put(CertificateLedgerEntries, {
      metadata: { name: ledgerEntryName(7) },
      spec: spec(7),
    });
    await expect(certificateLedger({ objects: later }).validate?.(creating(spec(1)))).rejects.toMatchObject({
      reason: 'Conflict',
      message: expect.stringContaining('it is not the first entry'),
    });
  });

  test.each<[string, LedgerEntrySpec]>([
    ['with the wrong previous hash', spec(2, 'hash 0')],
    ['without a previous hash, though it is not the first', spec(2)],
    ['after a gap', spec(3, 'hash 2')],
  ])('may not be one %s', async (_, entry) => {
    await expect(step.validate?.(creating(entry))).rejects.toMatchObject({
      reason: 'Conflict',
      message: expect.stringContaining(`it does not continue entry ${entry.sequence - 1}`),
    });
  });

  test('is checked on creation only, and other resources never', () => {
    const entry = creating(spec(2));
    expect(step.handles(entry)).toBe(true);
    expect(step.handles({ ...entry, operation: 'UPDATE' })).toBe(false);
    expect(step.handles({ ...entry, resource: ConfigMaps as ResourceType<ApiObject> })).toBe(false);
  });
});
