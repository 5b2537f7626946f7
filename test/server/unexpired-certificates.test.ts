import { expect, test } from 'vitest';
import type { LedgerRecord } from '../../src/api/certificate-ledger.js';
import { timestamp } from '../../src/api/time.js';
import { UnexpiredCertificates } from '../../src/server/unexpired-certificates.js';
import { certificateRecord } from './certificate-record.js';

const hour = 3_600_000;
const start = Date.UTC(2026, 0, 1);
let made = 0;

/** Returns a certificate with this validity, in hours from the start. */
const valid = (from: number, to: number, more: Partial<LedgerRecord> = {}): LedgerRecord =>
  certificateRecord({
    subject: 'CN=alice',
    names: ['DNS:a.test', 'DNS:b.test'],
    notBefore: timestamp(start + from * hour),
    notAfter: timestamp(start + to * hour),
    sha256: String(++made).padStart(64, '0'),
    ...more,
  });

function known(...records: readonly LedgerRecord[]) {
  const certificates = new UnexpiredCertificates();
  for (const record of records) certificates.add(record);
  return (hours: number) => {
    const { count, overdue, first } = certificates.at(start + hours * hour);
    return { count, overdue, first: first === undefined ? undefined : (first - start) / hour };
  };
}

test('a renewed certificate counts, but its expiry is not reported', () => {
  const at = known(valid(0, 100), valid(80, 180));
  expect(at(95)).toEqual({ count: 2, overdue: 0, first: 180 });
  expect(at(101)).toEqual({ count: 1, overdue: 0, first: 180 });
  expect(at(175)).toEqual({ count: 1, overdue: 1, first: 180 });
  expect(at(181)).toEqual({ count: 0, overdue: 0, first: undefined });
});

test('neither the order nor duplicates in the ledger matter', () => {
  const [old, renewal] = [valid(0, 100), valid(80, 180)];
  expect(known(renewal, old, renewal, old)(95)).toEqual({ count: 2, overdue: 0, first: 180 });
});

test.each<[string, Partial<LedgerRecord>, boolean]>([
  ['another requester', { requester: 'system:bootstrap:abcdef' }, true],
  ['the same names in another order', { names: ['DNS:b.test', 'DNS:a.test'] }, true],
  ['another serial number and approval', { serial: '7', approval: { reason: 'Other' } }, true],
  ['another subject', { subject: 'CN=bob' }, false],
  ['other names', { names: ['DNS:a.test'] }, false],
  ['other omitted names', { omittedNames: 1, namesSha256: 'ab' }, false],
  ['another signer', { signerName: 'example.test/b' }, false],
])('a certificate with %s is a renewal: %j', (_, more, isRenewal) => {
  const at = known(valid(0, 100), valid(80, 180, more));
  expect(at(95)).toEqual({ count: 2, overdue: isRenewal ? 0 : 1, first: isRenewal ? 180 : 100 });
});

test('without a subject or names, the holder is the requester', () => {
  const nameless = { subject: '', names: [] };
  const at = known(
    valid(0, 100, nameless),
    valid(80, 180, { ...nameless, requester: 'bob' }),
    valid(0, 90, { ...nameless, requester: 'bob' }),
  );
  expect(at(89.5)).toEqual({ count: 3, overdue: 0, first: 100 });
  expect(at(95)).toMatchObject({ overdue: 1, first: 100 });
});

test('a certificate is overdue in the last tenth of its life, to the millisecond', () => {
  const at = known(valid(0, 1), valid(0, 1_000, { subject: 'CN=bob' }), valid(0, 10_000, { subject: 'CN=carol' }));
  expect(at(0.9 - 1e-6).overdue).toBe(0);
  expect(at(0.9).overdue).toBe(1);
  expect(at(1).overdue).toBe(0);
  expect(at(899).overdue).toBe(0);
  expect(at(900)).toEqual({ count: 2, overdue: 1, first: 1_000 });
  expect(at(9_000)).toEqual({ count: 1, overdue: 1, first: 10_000 });
});

test('unreadable records do not hide others', () => {
  const at = known(
    valid(0, 1, { notAfter: 'never' }),
    valid(0, 1, { notBefore: '' }),
    valid(0, 1, { sha256: '' }),
    valid(0, 5),
  );
  expect(at(0)).toEqual({ count: 1, overdue: 0, first: 5 });
});
