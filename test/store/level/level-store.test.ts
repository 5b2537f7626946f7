import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Clock } from '../../../src/runtime/clock.js';
import { document } from '../../../src/store/document.js';
import { type Database, openDatabase } from '../../../src/store/level/database.js';
import { type LevelStore, type LevelStoreOptions, openLevelStore } from '../../../src/store/level/level-store.js';
import { recordKey } from '../../../src/store/level/record.js';
import { type Change, HistoryCompacted, type Store, StoreClosed } from '../../../src/store/store.js';
import { StoreUnavailable } from '../../../src/store/store-unavailable.js';
import { storeContract } from '../../../src/testing/store-contract.js';

const root = mkdtempSync(join(tmpdir(), 'level-store-'));
let made = 0;
const newDirectory = (): string => join(root, `store-${made++}`);
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('the level store fulfils the store contract', () => {
  for (const { name, run } of storeContract(() => openLevelStore(newDirectory()))) test(name, run);
});

describe('a level store that begins after another one fulfils it, too', () => {
  for (const { name, run } of storeContract(() => openLevelStore(newDirectory(), { after: 7_000_000_000n })))
    test(name, run);
});

test('the start revision is persisted, and applies to an empty directory only', async () => {
  const directory = newDirectory();
  const first = await openLevelStore(directory, { after: 41n });
  expect(await first.revision()).toBe(41n);
  expect(await put(first, '/a', 1)).toBe(42n);
  await first.close();
  const again = await openLevelStore(directory, { after: 1_000n });
  expect(await put(again, '/a', 2)).toBe(43n);
  await expect(again.scan('', { at: 40n })).rejects.toThrow(HistoryCompacted);
  await again.close();
});

async function put(store: Store, key: string, value: string | number): Promise<bigint> {
  const now = await store.get(key);
  return (await store.commit({ key, document: document(value), expect: now?.revision ?? 'absent' })).revision;
}

async function remove(store: Store, key: string): Promise<bigint> {
  const now = await store.get(key);
  return (await store.commit({ key, document: undefined, expect: now?.revision ?? 0n })).revision;
}

/** Returns everything that can still be read from a store, as text. */
async function contents(store: Store): Promise<readonly string[]> {
  const { entries, revision } = await store.scan('');
  return [`at ${revision}`, ...entries.map((entry) => `${entry.key} ${entry.revision} ${entry.bytes}`)];
}

async function past(store: Store, after: bigint): Promise<readonly string[]> {
  const told: string[] = [];
  await new Promise<void>((done, reject) => {
    const tell = (change: Change): void => {
      if (change.type === 'progress') {
        done();
        return;
      }
      const { type, entry, previous } = change;
      told.push(`${type} ${entry.key} ${entry.revision} ${entry.bytes} was ${previous?.bytes}`);
    };
    store.changes('', after).subscribe({ next: tell, error: reject });
  });
  return told;
}

async function filled(directory: string, options?: LevelStoreOptions): Promise<LevelStore> {
  const store = await openLevelStore(directory, options);
  for (let step = 0; step < 40; step++) await put(store, `/k/${step % 9}`, `value ${step} ${'x'.repeat(step * 10)}`);
  await remove(store, '/k/3');
  await put(store, '/k/3', 'again');
  await remove(store, '/k/4');
  return store;
}

test.skipIf(process.platform === 'win32')('a created directory is accessible to its owner only', async () => {
  const directory = join(newDirectory(), 'store');
  await (await openLevelStore(directory)).close();
  expect(statSync(directory).mode & 0o777).toBe(0o700);
});

describe('after opening the directory again', () => {
  test('entries, revisions and the history are unchanged', async () => {
    const directory = newDirectory();
    const store = await filled(directory);
    const before = [await contents(store), await past(store, 0n), await past(store, 40n)];
    const then = await store.scan('/k/', { at: 20n });
    await store.close();

    const again = await openLevelStore(directory);
    expect([await contents(again), await past(again, 0n), await past(again, 40n)]).toEqual(before);
    const reread = await again.scan('/k/', { at: 20n });
    expect(reread.entries.map(({ bytes }) => `${bytes}`)).toEqual(then.entries.map(({ bytes }) => `${bytes}`));
    expect(await put(again, '/k/new', 1)).toBe(44n);
    await again.close();
  });

  test('what left the history is removed from disk, and nothing else', async () => {
    const directory = newDirectory();
    const store = await filled(directory, { historyLimit: 5 });
    await put(store, '/flush', 1);
    const before = await contents(store);
    await expect(past(store, 10n)).rejects.toThrow(HistoryCompacted);
    await store.close();

    const again = await openLevelStore(directory);
    expect(await contents(again)).toEqual(before);
    await expect(past(again, 10n)).rejects.toThrow(HistoryCompacted);
    expect((await past(again, 40n)).length).toBe(4);
    await again.close();
  });

  test('history older than the window is removed even without writes', async () => {
    const directory = newDirectory();
    let now = 1_000_000;
    const clock: Clock = { now: () => now, monotonic: () => now, sleep: () => new Promise(() => {}) };
    const store = await openLevelStore(directory, { clock });
    const early = Array.from({ length: 3_000 }, (_, index) => put(store, `/early/${index}`, index));
    await Promise.all(early);
    now += 5 * 60_000 + 1;
    const late = Array.from({ length: 3_000 }, (_, index) => put(store, `/late/${index}`, index));
    await Promise.all(late);
    expect(await past(store, 3_000n)).toHaveLength(3_000);
    await expect(past(store, 2_999n)).rejects.toThrow(HistoryCompacted);
    await store.close();
    const again = await openLevelStore(directory, { clock });
    expect((await again.scan('')).entries).toHaveLength(6_000);
    await expect(past(again, 2_000n)).rejects.toThrow(HistoryCompacted);
    await again.close();
  });

  test('it works any number of times', async () => {
    const directory = newDirectory();
    for (let round = 1n; round <= 5n; round++) {
      const store = await openLevelStore(directory, { historyLimit: 3 });
      expect(await store.revision()).toBe(round - 1n);
      expect(await put(store, '/count', Number(round))).toBe(round);
      await store.close();
    }
  });
});

describe('a directory after a crash', () => {
  /**
   * Returns a copy of what is on disk at a moment while the store is open, without the clean-up of a close. LevelDB
   * creates and removes tables in its own thread; a copy made meanwhile is repeated.
   */
  const crashed = (directory: string): string => {
    while (true) {
      const [copy, before] = [newDirectory(), filesOf(directory)];
      let failed: unknown;
      try {
        cpSync(directory, copy, { recursive: true });
      } catch (error) {
        failed = error;
      }
      if (filesOf(directory) !== before) continue;
      if (failed !== undefined) throw failed;
      return copy;
    }
  };
  const filesOf = (directory: string): string =>
    readdirSync(directory)
      .map((name) => {
        const stats = statSync(join(directory, name), { throwIfNoEntry: false });
        return `${name} ${stats?.size} ${stats?.mtimeMs}`;
      })
      .join('\n');

  test('has everything acknowledged, and continues from there', async () => {
    const directory = newDirectory();
    const store = await filled(directory);
    const before = [await contents(store), await past(store, 0n)];
    const copy = crashed(directory);
    const again = await openLevelStore(copy);
    expect([await contents(again), await past(again, 0n)]).toEqual(before);
    expect(await put(again, '/k/new', 1)).toBe(44n);
    const twice = await openLevelStore(crashed(copy));
    expect(await contents(twice)).toEqual(await contents(again));
    for (const each of [store, again, twice]) await each.close();
  });

  test('has it even when the database is older than the journal', async () => {
    const directory = newDirectory();
    const store = await openLevelStore(directory);
    await put(store, '/a', 1);
    await store.close();
    const older = crashed(directory);
    const again = await filled(directory);
    cpSync(join(directory, 'JOURNAL'), join(older, 'JOURNAL'));
    cpSync(join(directory, 'ACKNOWLEDGED'), join(older, 'ACKNOWLEDGED'));
    const recovered = await openLevelStore(older);
    expect(await contents(recovered)).toEqual(await contents(again));
    for (const each of [again, recovered]) await each.close();
  });

  test('is refused if the journal lacks revisions after those of the database', async () => {
    const [directory, other] = [newDirectory(), newDirectory()];
    const store = await openLevelStore(directory);
    await put(store, '/a', 1);
    await put(store, '/a', 2);
    await store.close();
    const again = await openLevelStore(directory);
    await put(again, '/a', 3);
    await (await openLevelStore(other)).close();
    cpSync(join(directory, 'JOURNAL'), join(other, 'JOURNAL'));
    await expect(openLevelStore(other)).rejects.toThrow(`the store in ${other} is damaged: revision 1 is missing`);
    await again.close();
  });

  test('with a flipped byte in the journal is intact or refused, and refused for the last records', async () => {
    const directory = newDirectory();
    const store = await filled(directory, { journalSize: 65_536 });
    const before = [await contents(store), await past(store, 0n)];
    const copy = crashed(directory);
    await store.close();
    const bytes = readFileSync(join(copy, 'JOURNAL'));
    const used = bytes.indexOf(Buffer.alloc(64));
    let refused = 0;
    for (let place = 3; place < used; place += Math.floor(used / 40)) {
      const damaged = crashed(copy);
      const flipped = Buffer.from(bytes);
      flipped[place] = (flipped[place] ?? 0) ^ 0x10;
      writeFileSync(join(damaged, 'JOURNAL'), flipped);
      const opened = await openLevelStore(damaged).catch((error: unknown) => error);
      if (opened instanceof StoreUnavailable) refused++;
      else {
        expect([await contents(opened as LevelStore), await past(opened as LevelStore, 0n)], `${place}`).toEqual(
          before,
        );
        await (opened as LevelStore).close();
      }
    }
    expect(refused).toBeGreaterThan(30);
    const cut = crashed(copy);
    truncateSync(join(cut, 'JOURNAL'), 1_000);
    await expect(openLevelStore(cut)).rejects.toThrow(/revision 43 was acknowledged and is missing/);
  });

  test('has every write, for any writes, any journal size and any number of crashes', async () => {
    const step = fc.oneof(
      { weight: 12, arbitrary: fc.record({ key: fc.nat(5), length: fc.nat(900) }) },
      { weight: 2, arbitrary: fc.record({ key: fc.nat(5), length: fc.integer({ min: 3_000, max: 30_000 }) }) },
      { weight: 4, arbitrary: fc.record({ key: fc.nat(5), length: fc.constant(-1) }) },
      { weight: 1, arbitrary: fc.constant('crash' as const) },
    );
    const settings = fc.record({ historyLimit: fc.integer({ min: 1, max: 60 }), journalSize: fc.nat(12_000) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 120 }), settings, async (steps, options) => {
        let directory = newDirectory();
        let store = await openLevelStore(directory, options);
        for (const each of steps) {
          if (each === 'crash') {
            const [before, then] = [await contents(store), store];
            directory = crashed(directory);
            store = await openLevelStore(directory, options);
            expect(await contents(store)).toEqual(before);
            await then.close();
          } else if (each.length >= 0) {
            await Promise.all([
              put(store, `/k/${each.key}`, 'x'.repeat(each.length)),
              put(store, `/other/${each.key}`, each.length),
            ]);
          } else if ((await store.get(`/k/${each.key}`)) !== undefined) await remove(store, `/k/${each.key}`);
        }
        const before = await contents(store);
        await store.close();
        const again = await openLevelStore(directory, options);
        expect(await contents(again)).toEqual(before);
        await again.close();
      }),
      { numRuns: 25 },
    );
  });
});

describe('an unusable directory is refused with one sentence', () => {
  const refusal = async (directory: string): Promise<string> => {
    const error: unknown = await openLevelStore(directory).then(
      (store) => store.close().then(() => 'opened'),
      (reason) => reason,
    );
    expect(error).toBeInstanceOf(StoreUnavailable);
    return (error as StoreUnavailable).message;
  };

  test('in use', async () => {
    const directory = newDirectory();
    const store = await openLevelStore(directory);
    expect(await refusal(directory)).toBe(`the store in ${directory} is in use by another process`);
    await store.close();
  });

  test('below a file', async () => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    expect(await refusal(join(file, 'store'))).toMatch(/^the store in \S+ cannot be opened: ENOTDIR/);
  });

  test('that holds another database', async () => {
    const directory = newDirectory();
    const database = await openDatabase(directory);
    await database.put(Buffer.from('some'), Buffer.from('thing'));
    await database.close();
    expect(await refusal(directory)).toBe(`the store in ${directory} is damaged: its first record is missing`);
  });

  describe('with an empty manifest file, as a crash of the machine leaves it', () => {
    /** Creates the files as LevelDB does: the one that CURRENT names is not synced. */
    const begun = (more: Readonly<Record<string, string>> = {}): string => {
      const directory = newDirectory();
      mkdirSync(directory);
      const files = { CURRENT: 'MANIFEST-000001\n', 'MANIFEST-000001': '', LOCK: '', ACKNOWLEDGED: '', ...more };
      for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
      return directory;
    };

    test('is recreated if nothing was ever written to it', async () => {
      const directory = begun({ '000003.log': '', other: 'kept' });
      const store = await openLevelStore(directory);
      await put(store, '/a', 1);
      await store.close();
      const again = await openLevelStore(directory);
      expect((await again.get('/a'))?.value).toBe(1);
      await again.close();
      expect(readFileSync(join(directory, 'other'), 'utf8')).toBe('kept');
    });

    test.each<[string, Readonly<Record<string, string>>]>([
      ['a journal', { JOURNAL: '' }],
      ['a log that is not empty', { '000003.log': 'x' }],
      ['a table', { '000005.ldb': '' }],
      ['an acknowledged revision', { ACKNOWLEDGED: 'x'.repeat(12) }],
    ])('is left as it is if there is %s', async (_, more) => {
      const directory = begun(more);
      expect(await refusal(directory)).toMatch(/is damaged/);
      expect(readFileSync(join(directory, 'MANIFEST-000001'), 'utf8')).toBe('');
    });
  });

  test('with a flipped byte anywhere, or is intact', async () => {
    const directory = newDirectory();
    const store = await filled(directory);
    const before = [await contents(store), await past(store, 0n)];
    await store.close();
    const files = readdirSync(directory).map((name) => ({ name, bytes: readFileSync(join(directory, name)) }));
    const restore = (): void => {
      rmSync(directory, { recursive: true });
      mkdirSync(directory);
      for (const { name, bytes } of files) writeFileSync(join(directory, name), bytes);
    };
    let refused = 0;
    for (const { name, bytes } of files) {
      for (let place = 0; place < bytes.length; place += Math.max(1, Math.floor(bytes.length / 12))) {
        restore();
        const damaged = Buffer.from(bytes);
        damaged[place] = (damaged[place] ?? 0) ^ 0x10;
        writeFileSync(join(directory, name), damaged);
        const opened = await openLevelStore(directory).catch((error: unknown) => error);
        if (opened instanceof StoreUnavailable) {
          refused++;
          expect(opened.message.startsWith(`the store in ${directory} `)).toBe(true);
          continue;
        }
        const again = opened as LevelStore;
        expect([await contents(again), await past(again, 0n)], `${name} at ${place}`).toEqual(before);
        await again.close();
      }
    }
    expect(refused).toBeGreaterThan(12);
  });

  test('with a changed or missing record', async () => {
    const directory = newDirectory();
    await (await filled(directory)).close();
    const key = Buffer.from('760000000000000011', 'hex');
    const edit = async (change: (database: Database) => Promise<void>) => {
      const database = await openDatabase(directory);
      await change(database);
      await database.close();
    };
    await edit(async (database) => {
      const value = Buffer.from((await database.get(key)) ?? []);
      value[value.length - 3] = 0x41;
      await database.put(key, value);
    });
    expect(await refusal(directory)).toBe(
      `the store in ${directory} is damaged: revision 17 does not match its checksum`,
    );
    await edit((database) => database.del(key));
    expect(await refusal(directory)).toBe(`the store in ${directory} is damaged: revision 17 is missing`);
  });

  test('with a missing record from before the history', async () => {
    const directory = newDirectory();
    const store = await filled(directory, { historyLimit: 5 });
    const [oldest] = (await store.scan('')).entries.toSorted((a, b) => Number(a.revision - b.revision));
    await store.close();
    const database = await openDatabase(directory);
    await database.del(recordKey(oldest?.revision ?? 0n));
    await database.close();
    expect(await refusal(directory)).toBe(
      `the store in ${directory} is damaged: 9 records up to revision 37 should be there, 8 are`,
    );
  });

  test('without the main file of its database, the rest unharmed', async () => {
    const directory = newDirectory();
    const store = await filled(directory);
    const before = await contents(store);
    await store.close();
    const current = join(directory, 'CURRENT');
    const bytes = readFileSync(current);
    rmSync(current);
    expect(await refusal(directory)).toMatch(/does not exist/);
    writeFileSync(current, bytes);
    const again = await openLevelStore(directory);
    expect(await contents(again)).toEqual(before);
    await again.close();
  });

  test('without an acknowledged revision', async () => {
    const directory = newDirectory();
    const store = await openLevelStore(directory);
    await put(store, '/a', 1);
    await store.close();
    const file = join(directory, 'ACKNOWLEDGED');
    const first = readFileSync(file);
    const more = await openLevelStore(directory);
    await put(more, '/a', 2);
    await more.close();
    const second = readFileSync(file);
    expect(second.equals(first)).toBe(false);
    const other = newDirectory();
    const early = await openLevelStore(other);
    await put(early, '/a', 1);
    await early.close();
    writeFileSync(join(other, 'ACKNOWLEDGED'), second);
    expect(await refusal(other)).toBe(
      `the store in ${other} is damaged: revision 2 was acknowledged and is missing, the last one is 1`,
    );
  });
});

test("subscribers' reactions to a write are done before its writer continues", async () => {
  const store = await openLevelStore(newDirectory());
  const order: string[] = [];
  const running = store.changes('', 0n).subscribe(({ type }) => {
    if (type === 'progress') return;
    order.push('told');
    setImmediate(() => order.push('flushed'));
  });
  await put(store, '/a', 1);
  order.push('answered');
  expect(order).toEqual(['told', 'flushed', 'answered']);
  running.unsubscribe();
  await store.close();
});

test('the store reports its size on disk', async () => {
  const directory = newDirectory();
  const store = await openLevelStore(directory);
  await put(store, '/a', 1);
  const files = readdirSync(directory).map((name) => statSync(join(directory, name)).size);
  expect(await store.size()).toBe(files.reduce((sum, size) => sum + size, 0));
  await store.close();
});

test('closing answers every writer, and records what it acknowledged', async () => {
  const directory = newDirectory();
  const store = await openLevelStore(directory);
  const writes = Promise.all(
    ['/a', '/b', '/c'].map((key) => store.commit({ key, document: document(1), expect: 'absent' })),
  );
  await store.close();
  expect(await writes).toHaveLength(3);
  expect(readFileSync(join(directory, 'ACKNOWLEDGED')).readBigUInt64BE()).toBe(3n);
});

describe('when the disk fails', () => {
  test('pending writes and all later calls and streams fail, and nothing is retried', async () => {
    const directory = newDirectory();
    let failing = false;
    let writes = 0;
    const store = await openLevelStore(directory, {
      wrapLog: (log) => ({
        write: async (step) => {
          writes++;
          if (failing) throw new Error('input/output error');
          await log.write(step);
        },
        acknowledge: (revision) => log.acknowledge(revision),
        size: () => log.size(),
        close: () => log.close(),
      }),
    });
    await put(store, '/a', 1);
    const told: string[] = [];
    const ended = new Promise((end) => {
      store
        .changes('', 0n)
        .subscribe({ next: ({ type }) => told.push(type), error: end, complete: () => end('completed') });
    });
    failing = true;
    const before = writes;
    const outcomes = await Promise.allSettled([
      store.commit({ key: '/b', document: document(1), expect: 'absent' }),
      store.commit({ key: '/b', document: document(2), expect: 'absent' }),
      store.commit({ key: '/c', document: document(1), expect: 'absent' }),
    ]);
    for (const outcome of outcomes) {
      expect(outcome.status === 'rejected' && outcome.reason).toBeInstanceOf(StoreClosed);
    }
    expect(await ended).toBeInstanceOf(StoreClosed);
    expect(told).toEqual(['put', 'progress']);
    failing = false;
    await expect(store.get('/a')).rejects.toThrow(StoreClosed);
    await expect(store.commit({ key: '/d', document: document(1), expect: 'absent' })).rejects.toThrow(StoreClosed);
    expect(writes).toBe(before + 1);
    await store.close();

    const again = await openLevelStore(directory);
    expect(await contents(again)).toEqual(['at 1', '/a 1 1']);
    await again.close();
  });

  test('closing waits for pending writes', async () => {
    const directory = newDirectory();
    const store = await openLevelStore(directory);
    const writes = Array.from({ length: 50 }, (_, index) =>
      store.commit({ key: `/${index}`, document: document(index), expect: 'absent' }),
    );
    await store.close();
    await Promise.all(writes);
    const again = await openLevelStore(directory);
    expect((await again.scan('')).entries).toHaveLength(50);
    await again.close();
  });
});

describe('when the process is killed in the middle of writes', () => {
  const compiled = join(root, 'compiled');
  const project = resolve(import.meta.dirname, '../../..');

  beforeAll(() => {
    mkdirSync(compiled);
    writeFileSync(join(compiled, 'package.json'), '{"type":"module"}');
    symlinkSync(join(project, 'node_modules'), join(compiled, 'node_modules'));
    const compiler = join(project, 'node_modules/typescript/bin/tsc');
    const options =
      '--ignoreConfig --target es2023 --module nodenext --types node --skipLibCheck --noCheck --rootDir src'.split(' ');
    const source = 'src/store/level/level-store.ts';
    execFileSync(process.execPath, [compiler, ...options, '--outDir', compiled, source], {
      cwd: project,
      stdio: 'pipe',
    });
  });

  test.each([32_768, 4 * 1_048_576])(
    'nothing is lost or missing, with a journal of %i bytes',
    async (journalSize) => {
      const directory = newDirectory();
      const acknowledged = new Map<string, { readonly revision: bigint; readonly what: string }>();
      for (const round of [1, 2, 3, 4]) {
        const program = join(import.meta.dirname, 'writer.mjs');
        const child = spawn(
          process.execPath,
          [program, join(compiled, 'store/level/level-store.js'), directory, `${round}`, `${journalSize}`],
          {
            stdio: ['ignore', 'pipe', 'inherit'],
          },
        );
        let lines = 0;
        for await (const text of createInterface({ input: child.stdout })) {
          const [revision = '', key = '', what = ''] = text.split(' ');
          acknowledged.set(key, { revision: BigInt(revision), what });
          if (++lines === 150 * round) child.kill('SIGKILL');
        }
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
        expect(child.signalCode).toBe('SIGKILL');
        expect(lines).toBeGreaterThanOrEqual(150 * round);

        const store = await openLevelStore(directory, { historyLimit: 200, journalSize });
        for (const [key, { revision, what }] of acknowledged) {
          const entry = await store.get(key);
          // A write that was not acknowledged may have been executed after the last acknowledged one.
          if (entry !== undefined && entry.revision > revision) acknowledged.delete(key);
          else if (what === 'delete') expect(entry, key).toBeUndefined();
          else if (entry !== undefined) expect(entry.value, key).toMatchObject({ rv: `${revision}`, step: what });
          else {
            expect(await deletedAfter(store, key, revision), `${key} ${revision}`).toBe(true);
            // The change will not be in the history for long.
            acknowledged.set(key, { revision, what: 'delete' });
          }
        }
        await store.close();
      }
    },
    60_000,
  );
});

/** Whether the history contains a deletion of a key after a revision. */
async function deletedAfter(store: Store, key: string, revision: bigint): Promise<boolean> {
  const { revision: now } = await store.scan(key);
  const told = await past(store, now - 100n > revision ? now - 100n : revision);
  return told.some((text) => text.startsWith(`delete ${key} `));
}
