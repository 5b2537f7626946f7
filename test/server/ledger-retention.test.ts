import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type LedgerRecord, ledgerEntryName } from '../../src/api/certificate-ledger.js';
import { CertificateLedgerEntries } from '../../src/api/kinds/certificate-ledger-entry.js';
import { ledgerWriter } from '../../src/controller/ledger-writer.js';
import { verifyLedger } from '../../src/pki/certificate-ledger.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { removeOldLedgerEntries } from '../../src/server/ledger-retention.js';
import { UnreadEntry } from '../../src/store/document.js';
import { MemoryStore } from '../../src/store/memory/memory-store.js';
import { type Store, WriteConflict } from '../../src/store/store.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';
import { testServer } from '../../src/testing/test-server.js';
import { certificateRecord } from './certificate-record.js';

/** Old entries are removed from the beginning of the ledger, and the rest remains a ledger. */

const hour = 3_600_000;
const day = 24 * hour;
const start = Date.parse('2026-01-01T00:00:00Z');
const expiring = (...days: readonly number[]): readonly Pick<LedgerRecord, 'notAfter'>[] =>
  days.map((count) => ({ notAfter: new Date(start + count * day).toISOString() }));

describe('entries of the ledger', () => {
  let clock: FakeClock;
  let store: Store;
  let stopping: AbortController;
  let running: Promise<void>;
  let warnings: object[];
  beforeEach(() => {
    warnings = [];
    clock = new FakeClock(start);
    store = new MemoryStore();
    stopping = new AbortController();
    running = Promise.resolve();
  });
  afterEach(async () => {
    stopping.abort();
    await running;
    await store.close();
  });

  const begin = async (of = store): Promise<void> => {
    const { signal } = stopping;
    const log = { ...silentLogger, warn: (fields: object) => void warnings.push(fields) };
    running = removeOldLedgerEntries({ store: of, clock, log, retentionMs: 10 * day, signal });
    await settled();
  };
  const put = async (sequence: number, spec: unknown): Promise<void> => {
    const key = `certificates.kedge.internal/certificateledgerentries/${ledgerEntryName(sequence)}`;
    const bytes = Buffer.from(JSON.stringify({ metadata: {}, spec }));
    await store.commit({ key, document: { bytes, revisionAt: -1 }, expect: 'absent' });
  };
  const left = async (): Promise<readonly number[]> =>
    (await store.scan('')).entries.map(({ key }) => Number(key.slice(key.lastIndexOf('/') + 1)));

  test('are removed within an hour after their last certificate has been expired for the retention', async () => {
    await put(1, { records: expiring(1, 3) });
    await put(2, { records: expiring(5) });
    await put(3, { records: expiring(1) });
    await begin();
    await clock.advance(13 * day);
    expect(await left()).toEqual([1, 2, 3]);
    await clock.advance(hour);
    expect(await left()).toEqual([2, 3]);
  });

  test('stay as long as one before them does', async () => {
    await put(1, { records: expiring(1) });
    await put(2, { records: expiring(100) });
    await put(3, { records: expiring(1) });
    await put(4, { records: expiring(1) });
    await begin();
    await clock.advance(50 * day);
    expect(await left()).toEqual([2, 3, 4]);
    await clock.advance(61 * day);
    expect(await left()).toEqual([4]);
  });

  test('are removed whatever their number, except for the last one, which the next one continues', async () => {
    for (let sequence = 1; sequence <= 120; sequence++) await put(sequence, { records: expiring(0) });
    clock.set(start + 20 * day);
    await begin();
    await settled();
    expect(await left()).toEqual([120]);
  });

  test.each<[string, unknown]>([
    ['a record without an expiry', { records: [...expiring(0), {}] }],
    ['a record that is no object', { records: [5] }],
    ['an expiry that is no time', { records: [{ notAfter: 'soon' }] }],
    ['no records', {}],
    ['no object as spec', null],
  ])('stay if they cannot be judged: %s', async (_, spec) => {
    await put(1, spec);
    await put(2, { records: expiring(0) });
    clock.set(start + 20 * day);
    await begin();
    expect(await left()).toEqual([1, 2]);
  });

  test('stay if they cannot be read, which the log says', async () => {
    await put(1, { records: expiring(0) });
    await put(2, { records: expiring(0) });
    clock.set(start + 20 * day);
    const unread: Store = Object.assign(Object.create(store) as Store, {
      scan: async (prefix: string) => {
        const { entries, ...rest } = await store.scan(prefix);
        const broken = entries.map(
          ({ key, revision, revisionAt, bytes }) =>
            new UnreadEntry({ key, revision, revisionAt, kept: bytes }, () => {
              throw new Error('there is no key for it');
            }),
        );
        return { ...rest, entries: broken };
      },
    });
    await begin(unread);
    expect(await left()).toEqual([1, 2]);
    expect(warnings).toMatchObject([{ err: { message: 'there is no key for it' } }]);
  });

  test('that another server removes at the same time are no error, and a failure is retried an hour later', async () => {
    for (const sequence of [1, 2, 3]) await put(sequence, { records: expiring(0) });
    clock.set(start + 20 * day);
    const failures: Error[] = [new WriteConflict('x', undefined), new Error('disk')];
    const flaky: Store = Object.assign(Object.create(store) as Store, {
      scan: (prefix: string, options?: object) => store.scan(prefix, options),
      commit: async (write: Parameters<Store['commit']>[0]) => {
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
        return store.commit(write);
      },
    });
    await begin(flaky);
    expect(failures).toEqual([]);
    expect(await left()).toEqual([1, 2, 3]);
    await clock.advance(hour);
    expect(await left()).toEqual([3]);
  });
});

test('a ledger without its old entries is continued, also by a writer that knows only removed ones', async () => {
  const clock = new FakeClock(start);
  await using server = await testServer({ clock, controllers: [], ledgerRetentionDays: 10 });
  const entries = server.client.resource(CertificateLedgerEntries);
  const ledger = async () => {
    const { items } = await entries.list();
    return items.map(({ metadata, spec }) => ({ name: metadata.name ?? '', spec }));
  };
  const record = (serial: number, days: number): LedgerRecord => {
    const [expiry] = expiring(days);
    return certificateRecord({ ...expiry, serial: `${serial}`, sha256: `${serial}` });
  };
  const [idle, busy] = [ledgerWriter(server.client), ledgerWriter(server.client)];
  await idle.append(record(1, 1));
  for (let serial = 2; serial <= 7; serial++) await busy.append(record(serial, serial === 7 ? 30 : 1));
  await clock.advance(12 * day);
  expect((await ledger()).map(({ spec }) => spec.sequence)).toEqual([7]);
  const noted = verifyLedger(await ledger()).head;

  await idle.append(record(8, 30));
  await ledgerWriter(server.client).append(record(9, 30));
  await busy.append(record(10, 30));
  expect(verifyLedger(await ledger(), noted)).toMatchObject({ first: 7, records: 4, problems: [] });
  expect((await ledger()).map(({ spec }) => spec.sequence)).toEqual([7, 8, 9, 10]);
});
