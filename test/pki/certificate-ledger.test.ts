import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type LedgerEntrySpec, type LedgerRecord, ledgerEntryName } from '../../src/api/certificate-ledger.js';
import {
  emptyLedger,
  ledgerEntryProblems,
  ledgerHash,
  ledgerRecord,
  nextLedgerEntry,
  verifyLedger,
} from '../../src/pki/certificate-ledger.js';
import { testAuthority, testRequest } from '../../src/testing/certificates.js';

const record = (serial: string): LedgerRecord => ({
  request: { name: 'a', uid: 'u' },
  requester: 'alice',
  approval: { reason: 'R' },
  signerName: 'example.test/x',
  caKeyId: '01',
  serial,
  subject: 'CN=a',
  notBefore: '2026-01-01T00:00:00Z',
  notAfter: '2027-01-01T00:00:00Z',
  sha256: `ff${serial}`,
});

function ledger(count: number): readonly { readonly name: string; readonly spec: LedgerEntrySpec }[] {
  let head = emptyLedger;
  return Array.from({ length: count }, (_, at) => {
    const spec = nextLedgerEntry(head, [record(`${at}`), record(`${at}b`)]);
    head = { sequence: spec.sequence, hash: spec.hash };
    return { name: ledgerEntryName(spec.sequence), spec };
  });
}

test('a record tells what was issued, to whom and by whom', async () => {
  const clock = { now: () => Date.UTC(2026, 0, 1) };
  const ca = await testAuthority({ clock });
  const { pem } = await testRequest({
    commonName: 'a,b',
    organizations: ['x', 'y'],
    dnsNames: ['a.b'],
    ipAddresses: ['10.0.0.1'],
    uris: ['spiffe://a'],
    emailAddresses: ['a@b'],
  });
  const about = {
    request: { name: 'n', uid: 'u' },
    requester: 'r',
    approval: { reason: '', message: 'm' },
    signerName: 's',
  };
  const made = ledgerRecord(await ca.issue(pem, { seconds: 86_400, usages: ['client auth'] }), about);
  expect(made).toMatchObject({
    request: { name: 'n', uid: 'u' },
    requester: 'r',
    approval: { message: 'm' },
    caKeyId: ca.keyId,
    subject: 'O=x,O=y,CN=a\\,b',
    names: ['DNS:a.b', 'IP:10.0.0.1', 'email:a@b', 'URI:spiffe://a'],
    notBefore: '2025-12-31T23:55:00Z',
    notAfter: '2026-01-01T23:55:00Z',
  });
  expect(made.sha256).toMatch(/^[0-9a-f]{64}$/);
});

test('a record of a thousand names is truncated, and says so', async () => {
  const ca = await testAuthority();
  const dnsNames = Array.from({ length: 1_500 }, (_, at) => `host-${at}.example.test`);
  const { pem } = await testRequest({ commonName: 'ü'.repeat(2_000), dnsNames });
  const about = { request: { name: 'n', uid: 'u' }, requester: 'r', approval: {}, signerName: 's' };
  const made = ledgerRecord(await ca.issue(pem, { seconds: 3_600, usages: ['client auth'] }), about);
  expect((made.names?.length ?? 0) + (made.omittedNames ?? 0)).toBe(1_500);
  expect(made.names).toEqual(dnsNames.slice(0, 20).map((name) => `DNS:${name}`));
  const all = dnsNames.map((name) => `DNS:${name}`).join('\n');
  expect(made.namesSha256).toBe(createHash('sha256').update(all).digest('hex'));
  const longest = ledgerRecord(await ca.issue(pem, { seconds: 3_600, usages: ['client auth'] }), {
    ...about,
    request: { name: 'n'.repeat(2_000), uid: 'u' },
    requester: 'r'.repeat(2_000),
    approval: { reason: 'x'.repeat(2_000), message: 'y'.repeat(2_000) },
  });
  expect(JSON.stringify(longest).length).toBeLessThan(4_096);
  expect(made.subject?.endsWith('ü…')).toBe(true);
});

test('the hash does not depend on the order of members or on empty ones', () => {
  const one = { sequence: 1, records: [record('1')] };
  const { request, ...rest } = record('1');
  const other = { records: [{ ...rest, request, names: [], omittedNames: 0 }], sequence: 1 };
  expect(ledgerHash(other)).toBe(ledgerHash(one));
  expect(ledgerHash({ ...one, sequence: 2 })).not.toBe(ledgerHash(one));
});

describe('an entry', () => {
  const [first, second] = ledger(2);
  if (first === undefined || second === undefined) throw new Error('none');
  test('is valid as created', () => {
    expect(ledgerEntryProblems(first.name, first.spec)).toEqual([]);
    expect(ledgerEntryProblems(second.name, second.spec)).toEqual([]);
  });
  test.each<[string, Partial<LedgerEntrySpec>]>([
    ['hash is not that of the contents', { records: [record('x')] }],
    ['the name must be', { sequence: 3 }],
    ['there must be 1 to 256 records', { records: [] }],
    ['there must be 1 to 256 records', { records: Array.from({ length: 257 }, (_, at) => record(`${at}`)) }],
    ['records[0] has no signerName', { records: [{ ...record('x'), signerName: '' }] }],
    ['records[0] has no caKeyId', { records: [{ ...record('x'), caKeyId: '' }] }],
    ['records[0] has no serial', { records: [record('')] }],
    ['records[0].notBefore is not a time', { records: [{ ...record('x'), notBefore: 'soon' }] }],
    ['records[1] has no sha256', { records: [record('x'), { ...record('y'), sha256: '' }] }],
    ['records[0].notAfter is not a time', { records: [{ ...record('x'), notAfter: 'soon' }] }],
    ['sequence must be a positive number', { sequence: 9_007_199_254_740_993n as unknown as number }],
  ])('is invalid: %s', (problem, more) => {
    expect(ledgerEntryProblems(second.name, { ...second.spec, ...more }).join()).toContain(problem);
  });
  test('must name the previous one, unless it is the first', () => {
    expect(ledgerEntryProblems(first.name, { ...first.spec, previous: 'x' }).join()).toContain('previous');
    const { previous: _, ...alone } = second.spec;
    expect(ledgerEntryProblems(second.name, alone).join()).toContain('previous');
  });
  test('without valid contents is reported', () => {
    expect(ledgerEntryProblems('x', {} as LedgerEntrySpec).length).toBeGreaterThan(3);
  });
});

describe('a ledger', () => {
  const whole = ledger(5);
  const headOf = (at: number) => ({ sequence: whole[at]?.spec.sequence ?? 0, hash: whole[at]?.spec.hash ?? '' });
  test('is complete, in any order of its entries', () => {
    expect(verifyLedger([...whole].reverse(), headOf(2))).toEqual({
      first: 1,
      head: headOf(4),
      records: 10,
      problems: [],
    });
    expect(verifyLedger([]).problems).toEqual([]);
  });
  test.each([
    ['nothing was noted', undefined],
    ['an entry was noted that is missing and not the last one missing', headOf(0)],
  ])('is incomplete without its first entries if %s', (_, noted) => {
    expect(verifyLedger(whole.slice(2), noted).problems).toEqual([
      'entries up to 2 are missing, and no end that was noted there or later was given',
    ]);
  });
  test.each([1, 2, 4])('is complete without its first entries for a client that noted entry %i or later', (at) => {
    expect(verifyLedger(whole.slice(2), headOf(at))).toEqual({ first: 3, head: headOf(4), records: 6, problems: [] });
    expect(verifyLedger(whole.slice(2), { ...headOf(at), hash: 'x' }).problems).toEqual([
      `entry ${at + 1} is not the one that was noted`,
    ]);
  });
  test('is incomplete without one in between', () => {
    expect(verifyLedger(whole.filter((_, at) => at !== 2)).problems).toEqual([
      'entry 0000000000000004: entry 3 is missing before it',
    ]);
  });
  test('is incomplete without its last entry, for a client that noted its head', () => {
    expect(verifyLedger(whole.slice(0, 4)).problems).toEqual([]);
    expect(verifyLedger(whole.slice(0, 4), headOf(4)).problems).toEqual([
      'the ledger ends before entry 5, which was noted',
    ]);
  });
  test('with a changed record is invalid, even if its hash is recomputed', () => {
    const forge = (spec: LedgerEntrySpec): LedgerEntrySpec => {
      const forged = { ...spec, records: [record('x')] };
      return { ...forged, hash: ledgerHash(forged) };
    };
    const forged = whole.map((entry, at) => (at === 1 ? { ...entry, spec: forge(entry.spec) } : entry));
    expect(verifyLedger(forged).problems).toEqual(['entry 0000000000000003: it does not continue the previous entry']);
    expect(verifyLedger(forged.slice(0, 2), headOf(1)).problems).toEqual(['entry 2 is not the one that was noted']);
  });
});
