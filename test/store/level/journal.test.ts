import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type EncodedRecord, openJournal, readJournal } from '../../../src/store/level/journal.js';
import { encodeRecord } from '../../../src/store/level/record.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'journal-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const file = (): string => join(directory, 'JOURNAL');

/** A record of 100 bytes, including its header. */
const record = (revision: number, fill = 'x'): EncodedRecord => ({
  revision: BigInt(revision),
  bytes: encodeRecord(BigInt(revision), {
    type: 'put',
    key: `/key/${revision}`.padEnd(20, '-'),
    at: 1_700_000_000_000,
    bytes: Buffer.from(fill.repeat(49)),
    revisionAt: -1,
  }),
});
const records = (from: number, to: number): readonly EncodedRecord[] =>
  Array.from({ length: to - from + 1 }, (_, index) => record(from + index));

const revisions = (): readonly (readonly number[])[] =>
  readJournal(directory).map((half) => half.map(({ revision }) => Number(revision)));

/** Holds ten records in each half. */
const size = 2 * (10 * 100 + 12);

async function appendEach(from: number, to: number, bytes = size): Promise<readonly number[]> {
  const journal = openJournal(directory, bytes);
  const asked: number[] = [];
  for (const one of records(from, to)) await journal.append([one], async (last) => void asked.push(Number(last)));
  journal.close();
  return asked;
}

test('a missing or a new journal has no records', () => {
  expect(revisions()).toEqual([]);
  openJournal(directory, size).close();
  expect(readFileSync(file())).toEqual(Buffer.alloc(size));
  expect(revisions()).toEqual([]);
});

test('appended records are read back byte for byte', async () => {
  const journal = openJournal(directory, size);
  await journal.append(records(5, 7), async () => {});
  await journal.append([record(8)], async () => {});
  journal.close();
  expect(readJournal(directory)).toEqual([records(5, 8)]);
  expect(readFileSync(file()).length).toBe(size);
});

test('halves alternate, and what is overwritten must be persisted elsewhere before', async () => {
  expect(await appendEach(1, 25)).toEqual([0, 10]);
  expect(revisions()).toEqual([
    [11, 12, 13, 14, 15, 16, 17, 18, 19, 20],
    [21, 22, 23, 24, 25],
  ]);
});

test('an append writes nothing before its wait is over', async () => {
  const journal = openJournal(directory, size);
  await journal.append(records(1, 10), async () => {});
  await journal.append(records(11, 20), async () => {});
  const before = readFileSync(file());
  const refused = journal.append([record(21)], () => Promise.reject(new Error('not kept')));
  await expect(refused).rejects.toThrow('not kept');
  expect(readFileSync(file())).toEqual(before);
  journal.close();
});

test('a reopened journal starts over', async () => {
  await appendEach(1, 18);
  await appendEach(19, 21);
  expect(revisions()).toEqual([[19, 20, 21]]);
});

test('the remains of a torn write are not read after another torn write of a later opening', async () => {
  const journal = openJournal(directory, size);
  await journal.append(records(1, 3), async () => {});
  journal.close();
  // The disk wrote the first record last, and lost power before that.
  const torn = readFileSync(file()).fill(0, 0, 100);
  writeFileSync(file(), torn);
  expect(revisions()).toEqual([]);
  const later = openJournal(directory, size);
  const before = readFileSync(file());
  await later.append([record(1, 'y')], async () => {});
  later.close();
  // The record was written, but not the zeros after it.
  const after = readFileSync(file());
  writeFileSync(file(), Buffer.concat([after.subarray(0, 100), before.subarray(100)]));
  expect(readJournal(directory)).toEqual([[record(1, 'y')]]);
});

test('bytes inside a record are not taken for a record, wherever its replacement ends', async () => {
  const forged = Buffer.alloc(12);
  forged.writeBigUInt64BE(3n);
  forged.writeUInt32BE(record(3).bytes.length, 8);
  const holding = Buffer.concat([Buffer.alloc(record(2).bytes.length), forged, record(3).bytes]);
  const journal = openJournal(directory, size);
  await journal.append([{ revision: 1n, bytes: holding }], async () => {});
  journal.restart();
  await journal.append([record(2)], async () => {});
  journal.close();
  expect(revisions()).toEqual([[2]]);
});

test('restarting forgets both halves', async () => {
  const journal = openJournal(directory, size);
  const asked: bigint[] = [];
  const kept = async (last: bigint): Promise<void> => void asked.push(last);
  await journal.append(records(1, 10), kept);
  await journal.append(records(11, 12), kept);
  journal.restart();
  await journal.append(records(40, 42), kept);
  expect(revisions()).toEqual([
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    [40, 41, 42],
  ]);
  await journal.append(records(43, 50), kept);
  expect(asked).toEqual([0n, 0n]);
  journal.close();
});

test('one append takes what fits into a half', () => {
  const journal = openJournal(directory, size);
  expect(journal.fits(records(1, 10))).toBe(true);
  expect(journal.fits(records(1, 11))).toBe(false);
  journal.close();
});

test('a journal of another size is replaced', async () => {
  await appendEach(1, 3);
  expect(await appendEach(4, 6, size * 2)).toEqual([]);
  expect(readFileSync(file()).length).toBe(size * 2);
  expect(revisions()).toEqual([[4, 5, 6]]);
});

test('of a torn write, only whole records are read', async () => {
  await appendEach(1, 10);
  const before = readFileSync(file());
  const journal = openJournal(directory, size);
  await journal.append(
    [11, 12, 13].map((revision) => record(revision, 'y')),
    async () => {},
  );
  journal.close();
  const after = readFileSync(file());
  for (let cut = 0; cut <= 312; cut++) {
    writeFileSync(file(), Buffer.concat([after.subarray(0, cut), before.subarray(cut)]));
    const whole = [11, 12, 13].slice(0, Math.floor(cut / 100));
    // Until the first byte that differs, the first old record is intact.
    if (cut < 8) expect(revisions().flat()[0], `${cut}`).toBe(1);
    else expect(revisions(), `${cut}`).toEqual(whole.length === 0 ? [] : [whole]);
  }
});

test('a flipped bit removes its record and those behind it in its half, and changes none', async () => {
  await appendEach(1, 13);
  const bytes = readFileSync(file());
  for (let place = 0; place < bytes.length; place += 5) {
    const damaged = Buffer.from(bytes);
    damaged[place] = (damaged[place] ?? 0) ^ (1 << (place % 8));
    writeFileSync(file(), damaged);
    const found = readJournal(directory).flat();
    for (const { revision, bytes: read } of found) {
      if (revision <= 13n) expect(read.equals(record(Number(revision)).bytes), `${place}`).toBe(true);
    }
    const [inFirst, inSecond] = [Math.floor(place / 100), Math.floor((place - size / 2) / 100)];
    const expected = [
      ...records(1, place < 1_000 ? inFirst : 10),
      ...records(11, place >= size / 2 && inSecond < 3 ? 10 + inSecond : 13),
    ].map(({ revision }) => revision);
    // The first revision of a half has no record before it to be compared with.
    const known = found.map(({ revision }) => revision).filter((revision) => revision <= 13n);
    expect(known, `${place}`).toEqual(expected);
  }
});
