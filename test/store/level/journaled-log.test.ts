import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { silentLogger } from '../../../src/runtime/logger.js';
import type { AcknowledgedFile } from '../../../src/store/level/acknowledged-file.js';
import type { Database } from '../../../src/store/level/database.js';
import { type Journal, openJournal } from '../../../src/store/level/journal.js';
import { JournaledLog } from '../../../src/store/level/journaled-log.js';
import type { LogStep } from '../../../src/store/level/record-log.js';

/** Records its calls, and executes them on request. */
class SlowDatabase {
  readonly location: string;
  readonly batches: string[] = [];
  closed = false;
  #waiting: { resolve(): void; reject(error: Error): void }[] = [];

  constructor(location: string) {
    this.location = location;
  }

  batch() {
    const operations: string[] = [];
    return {
      put: (key: Buffer, value: Buffer) => operations.push(`put ${nameOf(key)} ${value.length}`),
      del: (key: Buffer) => operations.push(`del ${nameOf(key)}`),
      write: async ({ sync }: { readonly sync: boolean }) => {
        expect(sync).toBe(true);
        this.batches.push(operations.join(', '));
        await new Promise<void>((resolve, reject) => this.#waiting.push({ resolve, reject }));
      },
    };
  }

  settle(error?: Error): void {
    for (const { resolve, reject } of this.#waiting.splice(0)) error === undefined ? resolve() : reject(error);
  }

  async close(): Promise<void> {
    this.closed = true;
  }
}

const nameOf = (key: Buffer): string => (key.length === 9 ? `${key.readBigUInt64BE(1)}` : key.toString());

let directory: string;
let journal: Journal;
let database: SlowDatabase;
let log: JournaledLog;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'journaled-log-'));
  journal = openJournal(directory, 8_192);
  database = new SlowDatabase(directory);
  const acknowledged: AcknowledgedFile = { last: undefined, write: () => {}, close: () => {} };
  log = new JournaledLog({ database: database as unknown as Database, journal, acknowledged, log: silentLogger });
});
afterEach(() => rmSync(directory, { recursive: true }));

const header = 19;
const put = (revision: number, length: number): LogStep => ({
  added: [
    {
      revision: BigInt(revision),
      record: { type: 'put', key: '/', at: 0, bytes: Buffer.alloc(length - header - 1), revisionAt: -1 },
    },
  ],
  removed: [],
  mark: { compacted: 0n, records: 0 },
});

/** Waits until the database has received this many batches, and returns whether the promise has settled by then. */
async function settledAtBatch(batches: number, promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const settle = (): void => {
    settled = true;
  };
  promise.then(settle, settle);
  await expect.poll(() => database.batches.length, { interval: 1 }).toBe(batches);
  return settled;
}

describe('writes are durable without the database', () => {
  test('which gets them once the journal is full', async () => {
    for (const revision of [1, 2, 3, 4]) await log.write(put(revision, 1_800));
    expect(database.batches).toEqual([]);
    const fifth = log.write(put(5, 1_800));
    expect(await settledAtBatch(1, fifth)).toBe(false);
    expect(database.batches).toEqual(['put 1 1800, put 2 1800, put 3 1800, put 4 1800']);
    database.settle();
    await fifth;
    await log.write(put(6, 1_800));
    expect(database.batches.length).toBe(1);
  });

  test('and removals go to it in the same order, with the last mark', async () => {
    await log.write(put(1, 100));
    await log.write({ ...put(2, 100), removed: [1n], mark: { compacted: 1n, records: 0 } });
    await log.write({ added: [], removed: [2n], mark: { compacted: 2n, records: 0 } });
    const closed = log.close();
    expect(await settledAtBatch(1, closed)).toBe(false);
    expect(database.batches).toEqual(['put 1 100, put 2 100, del 1, del 2, put m 21']);
    database.settle();
    await closed;
    expect(database.closed).toBe(true);
  });

  test.each<[string, LogStep]>([
    ['a mebibyte', put(1, 1_048_576)],
    ['four thousand removals', { ...put(1, 100), removed: Array.from({ length: 4_096 }, (_, at) => BigInt(at)) }],
  ])('which gets them once %s is pending, without a writer waiting', async (_, step) => {
    journal.close();
    journal = openJournal(directory, 4 * 1_048_576);
    const acknowledged: AcknowledgedFile = { last: undefined, write: () => {}, close: () => {} };
    log = new JournaledLog({ database: database as unknown as Database, journal, acknowledged, log: silentLogger });
    await log.write(put(0, 100));
    expect(database.batches.length).toBe(0);
    await log.write(step);
    expect(database.batches.length).toBe(1);
  });

  test('unless a step does not fit into the journal: then it is durable in the database, after all others', async () => {
    await log.write(put(1, 100));
    const large = log.write(put(2, 5_000));
    expect(await settledAtBatch(1, large)).toBe(false);
    expect(database.batches).toEqual(['put 1 100, put 2 5000']);
    database.settle();
    await large;
    for (const revision of [3, 4, 5, 6]) await log.write(put(revision, 1_800));
    expect(database.batches.length).toBe(1);
  });
});

test('closing ends after the database is closed: only then is the directory free for others', async () => {
  let free = (): void => {};
  database.close = () =>
    new Promise((resolve) => {
      free = resolve;
    });
  let isClosed = false;
  const closed = log.close().then(() => {
    isClosed = true;
  });
  await new Promise(setImmediate);
  expect(isClosed).toBe(false);
  free();
  await closed;
});

describe('when the database fails', () => {
  test('the next write fails, and the database gets nothing more', async () => {
    for (const revision of [1, 2, 3, 4]) await log.write(put(revision, 1_800));
    const fifth = log.write(put(5, 1_800));
    expect(await settledAtBatch(1, fifth)).toBe(false);
    database.settle(new Error('input/output error'));
    await expect(fifth).rejects.toThrow('input/output error');
    await expect(log.write(put(6, 100))).rejects.toThrow('input/output error');
    await log.close();
    expect(database.batches.length).toBe(1);
    expect(database.closed).toBe(true);
  });

  test('a step too large for the journal fails', async () => {
    const large = log.write(put(1, 5_000));
    expect(await settledAtBatch(1, large)).toBe(false);
    database.settle(new Error('input/output error'));
    await expect(large).rejects.toThrow('input/output error');
  });
});
