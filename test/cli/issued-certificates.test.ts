import { describe, expect, test } from 'vitest';
import type { LedgerRecord } from '../../src/api/certificate-ledger.js';
import { kedgeNames } from '../../src/api/kedge-names.js';
import { caTable, rotationProblem } from '../../src/cli/ca.js';
import { recordTable, selectRecords } from '../../src/cli/issued-certificates.js';
import { announceNext, markNextSeen, rotationPolicy, switchToNext } from '../../src/pki/ca-rotation.js';
import { type CaState, writeCaState } from '../../src/pki/ca-state.js';
import { createAuthorityKeyPair } from '../../src/pki/certificate-authority.js';

const now = Date.UTC(2026, 0, 1);
const day = 86_400_000;
const record = (sha256: string, days: number, more: Partial<LedgerRecord> = {}): LedgerRecord => ({
  request: { name: 'r', uid: 'u' },
  requester: 'alice',
  approval: { reason: 'KubectlApprove' },
  signerName: 'example.test/a',
  caKeyId: '01',
  serial: `5${sha256}`,
  subject: 'CN=web,O=x',
  notBefore: '2025-01-01T00:00:00Z',
  notAfter: new Date(now + days * day).toISOString().replace('.000', ''),
  sha256,
  ...more,
});
const records = [
  record('c', 30, { signerName: 'example.test/b', requester: 'bob' }),
  record('b', 10, { names: ['DNS:a.example', 'IP:10.0.0.1'], subject: 'CN=a\\,CN=web' }),
  record('a', -1),
  record('b', 10),
];

describe('certificates', () => {
  test.each([
    [{}, ['b', 'c']],
    [{ expired: true }, ['a', 'b', 'c']],
    [{ signer: 'example.test/b' }, ['c']],
    [{ requester: 'alice' }, ['b']],
    [{ expiresWithin: 10 * day }, ['b']],
    [{ expiresWithin: 9 * day }, []],
    [{ name: 'web' }, ['b', 'c']],
    [{ name: 'nobody' }, []],
  ])('are selected by %j, once each, sorted by expiry', (query, expected) => {
    expect(selectRecords(records, query, now).map(({ sha256 }) => sha256)).toEqual(expected);
  });
  test('are found by alternative names, but not by text that only resembles a common name', () => {
    const only = records.slice(1, 2);
    expect(selectRecords(only, { name: 'a.example' }, now).length).toBe(1);
    expect(selectRecords(only, { name: 'IP:10.0.0.1' }, now).length).toBe(1);
    expect(selectRecords(only, { name: 'web' }, now).length).toBe(0);
  });
  test.each([
    ['Acme, Inc', 'O=x,CN=Acme\\, Inc'],
    ['a+b', 'CN=a\\+b,O=x'],
    ['uid=7', 'CN=uid\\=7'],
    ['a\\', 'CN=a\\\\,O=x'],
    [' #a\0 ', 'CN=\\ #a\\00\\ '],
  ])('are found by the common name %j', (name, subject) => {
    expect(selectRecords([record('a', 1, { subject })], { name }, now).length).toBe(1);
  });
  test('are listed in any number', () => {
    expect(
      recordTable(
        Array.from({ length: 150_000 }, () => record('a', 1)),
        now,
      ).split('\n').length,
    ).toBe(150_002);
  });
  test('are found and listed without a subject', () => {
    const { subject: _, ...workload } = record('e', 1, { names: ['URI:spiffe://a/b'] });
    expect(selectRecords([workload], { name: 'spiffe://a/b' }, now)).toEqual([workload]);
    expect(recordTable([workload], now)).toContain('example.test/a   -         URI:spiffe://a/b');
  });
  test('are listed in columns, with control characters escaped', () => {
    const odd = record('d', 1, {
      subject: 'CN=\u001b[31mred',
      omittedNames: 7,
      approval: { reason: 'PolicyApproved', message: 'Approved by rule "ci" of the certificate policy.' },
    });
    expect(recordTable([odd], now)).toBe(
      [
        'EXPIRES   SIGNER           SUBJECT            NAMES        REQUESTER   APPROVAL    SERIAL',
        'in 24h    example.test/a   CN=\\u001b[31mred   and 7 more   alice       rule "ci"   5d',
        '',
      ].join('\n'),
    );
  });
});

describe('CAs', async () => {
  const pair = async (commonName: string) =>
    createAuthorityKeyPair({ commonName, seconds: 100 * 86_400 }, { now: () => now });
  const [first, second] = [await pair('first'), await pair('second')];
  const policy = rotationPolicy({ maxSeconds: 86_400, propagationMs: 0 });
  const steady: CaState = { generation: 1, signing: first, retiring: [], longestSeconds: 0 };
  const next = announceNext(steady, second);
  const spreading = markNextSeen(next, now - day);
  const row = (state: CaState, more: object = {}, at = now, waitsFor: readonly string[] = []): string | undefined =>
    caTable(
      [
        {
          secret: {
            apiVersion: 'v1',
            kind: 'Secret',
            metadata: { namespace: 'pki', name: 'ca', annotations: { [kedgeNames.signersAnnotation]: 'a.test/x' } },
            data: { ...writeCaState(state), ...more },
          },
          waitsFor,
        },
      ],
      at,
    )
      .split('\n')[1]
      ?.replace(/ {2,}/g, ' | ');

  test.each<[string, CaState, string]>([
    ['steady', steady, 'pki/ca | a.test/x | steady | first | in 99d | 1 | -'],
    [
      'announced',
      next,
      'pki/ca | a.test/x | announced | first | in 99d | 2 | waiting until every bundle has the next anchor',
    ],
    [
      'spreading',
      spreading,
      'pki/ca | a.test/x | spreading | first | in 99d | 2 | every bundle has had the next anchor for 24h',
    ],
    [
      'retiring',
      switchToNext(spreading, now, policy),
      'pki/ca | a.test/x | retiring | second | in 99d | 2 | the old anchor goes in 25h',
    ],
  ])('that are %s are listed with their phase', (_, state, expected) => {
    expect(row(state)).toBe(expected);
  });
  test.each<[string, CaState, readonly string[], string]>([
    ['while waiting', next, ['ConfigMap a/corp'], 'waiting for the next anchor in ConfigMap a/corp'],
    [
      'the first of several',
      next,
      ['ConfigMap a/corp', 'b', 'c'],
      'waiting for the next anchor in ConfigMap a/corp and 2 more',
    ],
    ['after waiting', spreading, ['ConfigMap a/corp'], 'without the next anchor: ConfigMap a/corp'],
  ])('are listed with consumers that lack the next anchor: %s', (_, state, waitsFor, expected) => {
    expect(row(state, {}, now, waitsFor)?.split(' | ').at(-1)).toBe(expected);
  });
  test('that have expired are listed with the time, and steps that are due with no time left', () => {
    const [ended, end] = [now + 100 * day, '2026-04-10T23:55:00Z'];
    expect(row(steady, {}, ended)).toBe(`pki/ca | a.test/x | steady | first | ${end} | 1 | -`);
    expect(row(switchToNext(spreading, now, policy), {}, ended)).toBe(
      `pki/ca | a.test/x | retiring | second | ${end} | 2 | the old anchor goes in 0s`,
    );
    expect(recordTable([record('a', -1)], now)).toContain('\n2025-12-31T00:00:00Z   ');
  });
  test('with a broken state are listed as unusable', () => {
    expect(row(steady, { 'rotation.json': 'e30=' })).toContain('unusable');
  });
  test('cannot be rotated again during a rotation', () => {
    expect(rotationProblem(steady)).toBeUndefined();
    expect(rotationProblem(spreading)).toBe('a rotation is in progress (spreading); it continues by itself');
  });
});
