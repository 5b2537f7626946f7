import assert from 'node:assert/strict';
import { document, withRevision } from '../store/document.js';
import {
  type Change,
  type Document,
  type Entry,
  HistoryCompacted,
  type Revision,
  RevisionInFuture,
  type Store,
  StoreClosed,
  WriteConflict,
} from '../store/store.js';
import { changeBatches } from './change-batches.js';
import type { ContractCase } from './contract-case.js';

/** A store to examine; if it has `compact`, the promises about compacted history are examined too. */
export type StoreUnderTest = Store & {
  /** Compacts the history up to a revision immediately. */
  compact?(revision: Revision): Promise<void>;
};

/** The timeout of a case, in milliseconds of real time. */
const patience = 20_000;

/**
 * Returns the promises of `Store` that can be observed from outside and quickly, as cases for any test runner. Not
 * included are that a slow subscriber is cut off, and that acknowledged writes survive a crash. `open` returns a new
 * store for each case, empty and not used by others, which the case closes. A backend may have had writes of its own
 * before.
 */
export function storeContract(open: () => Promise<StoreUnderTest>): readonly ContractCase[] {
  return Object.entries(promises).map(([name, promise]) => ({
    name,
    run: async () => {
      const store = await open();
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new assert.AssertionError({ message: `not done in time: ${name}` })), patience);
      });
      try {
        await Promise.race([promise(store), late]);
      } finally {
        clearTimeout(timer);
        await store.close();
      }
    },
  }));
}

const promises: Readonly<Record<string, (store: StoreUnderTest) => Promise<void>>> = {
  async 'a key that was never written is absent'(store) {
    assert.equal(await store.get('/a'), undefined);
    assert.deepEqual((await store.scan('/')).entries, []);
  },

  async 'a committed document can be read, with its revision filled in'(store) {
    const committed = await putDocument(store, '/a', versioned('one'));
    const read = present(await store.get('/a'));
    assert.equal(read.key, '/a');
    assert.equal(read.revision, committed.revision);
    assert.equal(read.bytes.toString(), `{"rv":"${committed.revision}","name":"one"}`);
    assert.deepEqual(read.value, { rv: String(committed.revision), name: 'one' });
    assert.equal(read.bytes.subarray(read.revisionAt).indexOf(String(committed.revision)), 0);
    assert.deepEqual(committed.bytes, read.bytes);
  },

  async 'a document without a position for the revision is stored unchanged'(store) {
    const value = { text: 'ä\u{1f600}', list: [1, null, true], nested: { ['__proto__']: 1 } };
    const committed = await putDocument(store, '/a', document(value));
    assert.equal(committed.revisionAt, -1);
    assert.equal(present(await store.get('/a')).bytes.toString(), JSON.stringify(value));
  },

  async 'the position of the revision may be at either end'(store) {
    const first = await putDocument(store, '/a', { bytes: Buffer.from(''), revisionAt: 0 });
    assert.equal(present(await store.get('/a')).bytes.toString(), String(first.revision));
    const last = await putDocument(store, '/b', { bytes: Buffer.from('1'), revisionAt: 1 });
    assert.equal(present(await store.get('/b')).bytes.toString(), `1${last.revision}`);
  },

  async 'a large document comes back byte for byte'(store) {
    const text = Array.from({ length: 1_000_000 }, (_, index) => String.fromCharCode(97 + (index % 26))).join('');
    const committed = await putDocument(store, '/large', versioned(text));
    const { bytes } = present(await store.get('/large'));
    assert.ok(bytes.equals(withRevision(versioned(text), committed.revision)));
  },

  async 'revisions grow with every write, whatever its key'(store) {
    let last = await store.revision();
    for (const key of ['/a', '/b', '/a', '/c']) {
      const { revision } = await putDocument(store, key, versioned(key));
      assert.ok(revision > last, `${revision} is not greater than ${last}`);
      last = revision;
      assert.equal(await store.revision(), revision);
    }
    const deletion = await remove(store, '/a');
    assert.ok(deletion.revision > last);
  },

  async 'a deletion returns the last value at the revision of the deletion'(store) {
    const before = await putDocument(store, '/a', versioned('one'));
    const deleted = await remove(store, '/a');
    assert.ok(deleted.revision > before.revision);
    assert.equal(deleted.bytes.toString(), `{"rv":"${deleted.revision}","name":"one"}`);
    assert.equal(before.bytes.toString(), `{"rv":"${before.revision}","name":"one"}`);
    assert.equal(await store.get('/a'), undefined);
  },

  async 'an entry that was read does not change when its key is written'(store) {
    await putDocument(store, '/a', versioned('one'));
    const entry = present(await store.get('/a'));
    const bytes = entry.bytes.toString();
    await putDocument(store, '/a', versioned('two'));
    await remove(store, '/a');
    assert.equal(entry.bytes.toString(), bytes);
  },

  async 'a creation conflicts with an existing entry, and returns it'(store) {
    const first = await putDocument(store, '/a', versioned('one'));
    const error = await conflict(store.commit({ key: '/a', document: versioned('two'), expect: 'absent' }));
    assert.equal(error.key, '/a');
    assert.equal(error.actual?.revision, first.revision);
    assert.equal(error.actual?.bytes.toString(), first.bytes.toString());
  },

  async 'an update or deletion conflicts unless the entry is at the revision it expects'(store) {
    const first = await putDocument(store, '/a', versioned('one'));
    const second = await store.commit({ key: '/a', document: versioned('two'), expect: first.revision });
    for (const doc of [versioned('three'), undefined]) {
      for (const expect of [first.revision, second.revision + 1_000_000n, 0n]) {
        const error = await conflict(store.commit({ key: '/a', document: doc, expect }));
        assert.equal(error.actual?.revision, second.revision);
      }
    }
    assert.equal(present(await store.get('/a')).revision, second.revision);
  },

  async 'an update or deletion of an absent key conflicts with nothing'(store) {
    const first = await putDocument(store, '/a', versioned('one'));
    await remove(store, '/a');
    for (const [key, doc] of [
      ['/a', versioned('two')],
      ['/a', undefined],
      ['/b', versioned('two')],
      ['/b', undefined],
    ] as const) {
      const error = await conflict(store.commit({ key, document: doc, expect: first.revision }));
      assert.equal(error.actual, undefined);
    }
  },

  async 'every reader of a revision gets the same entry'(store) {
    const start = await store.revision();
    const committed = await putDocument(store, '/a', versioned('one'));
    assert.equal(await store.get('/a'), committed);
    assert.equal((await store.scan('/')).entries[0], committed);
    const changes: Change[] = [];
    const subscription = store.changes('/', start).subscribe((change) => changes.push(change));
    await until(() => changes.length > 0);
    subscription.unsubscribe();
    assert.ok(changes[0]?.type === 'put');
    assert.equal(changes[0].entry, committed);
  },

  async 'a conflict uses no revision and emits no change'(store) {
    await putDocument(store, '/a', versioned('one'));
    const before = await store.revision();
    await conflict(store.commit({ key: '/a', document: versioned('two'), expect: 'absent' }));
    assert.equal(await store.revision(), before);
    const watch = follow(store, '/', before);
    const next = await putDocument(store, '/b', versioned('two'));
    assert.deepEqual(await watch.take(1), [`put /b ${next.revision}`]);
    watch.stop();
  },

  async 'a key can be written again after its deletion'(store) {
    await putDocument(store, '/a', versioned('one'));
    await remove(store, '/a');
    const again = await store.commit({ key: '/a', document: versioned('two'), expect: 'absent' });
    assert.equal(present(await store.get('/a')).revision, again.revision);
  },

  async 'of many concurrent writes with the same expectation exactly one succeeds'(store) {
    const { revision } = await putDocument(store, '/a', versioned('start'));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        store.commit({ key: '/a', document: versioned(`writer ${index}`), expect: revision }),
      ),
    );
    const won = outcomes.filter((outcome) => outcome.status === 'fulfilled');
    assert.equal(won.length, 1);
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') continue;
      assert.ok(outcome.reason instanceof WriteConflict);
      assert.equal(outcome.reason.actual?.revision, won[0]?.value.revision);
    }
    assert.equal(present(await store.get('/a')).revision, won[0]?.value.revision);
  },

  async 'concurrent increments of one entry lose nothing'(store) {
    await putDocument(store, '/count', document(0));
    const increment = async (): Promise<void> => {
      while (true) {
        const entry = present(await store.get('/count'));
        try {
          const next = document(Number(entry.value) + 1);
          await store.commit({ key: '/count', document: next, expect: entry.revision });
          return;
        } catch (error) {
          if (!(error instanceof WriteConflict)) throw error;
        }
      }
    };
    await Promise.all(Array.from({ length: 8 }, async () => repeat(5, increment)));
    assert.equal(present(await store.get('/count')).value, 40);
  },

  async 'an empty key, a key that is not Unicode and the deletion of an absent key are rejected'(store) {
    await assert.rejects(store.commit({ key: '', document: document(1), expect: 'absent' }), TypeError);
    await assert.rejects(store.commit({ key: '/\ud800', document: document(1), expect: 'absent' }), TypeError);
    await assert.rejects(store.commit({ key: '/a', document: undefined, expect: 'absent' }), TypeError);
    const outside = { bytes: Buffer.from('{}'), revisionAt: 3 };
    await assert.rejects(store.commit({ key: '/a', document: outside, expect: 'absent' }), TypeError);
    assert.deepEqual((await store.scan('')).entries, []);
  },

  async 'names of built-in object members work as keys'(store) {
    const keys = ['__proto__', 'constructor', 'hasOwnProperty', 'toString'];
    for (const key of keys) assert.equal(await store.get(key), undefined);
    for (const key of keys) await putDocument(store, key, versioned(key));
    assert.deepEqual(await keysOf(store, ''), keys.toSorted());
  },

  async 'a scan returns the keys under a prefix in the order of their UTF-8 bytes'(store) {
    const keys = ['/a/1', '/a/10', '/a/2', '/a/b/c', '/a/\u{1f600}', '/a/\uff5e', '/a/ä', '/a', '/a0', '/b/1', '/A/1'];
    for (const key of keys) await putDocument(store, key, versioned(key));
    const sorted = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    for (const prefix of ['', '/', '/a', '/a/', '/a/1', '/a/\u{1f600}', '/c', '/a/1/']) {
      assert.deepEqual(
        await keysOf(store, prefix),
        sorted.filter((key) => key.startsWith(prefix)),
        prefix,
      );
    }
  },

  async 'a paged scan returns every key once and counts the remaining ones'(store) {
    const keys = Array.from({ length: 25 }, (_, index) => `/a/${String(index).padStart(2, '0')}`);
    for (const key of keys) await putDocument(store, key, versioned(key));
    await putDocument(store, '/b/1', versioned('other'));
    await putDocument(store, '/A/1', versioned('other'));
    for (const limit of [1, 7, 24, 25, 26]) {
      const found: string[] = [];
      let page = await store.scan('/a/', { limit });
      while (true) {
        found.push(...page.entries.map(({ key }) => key));
        assert.ok(page.entries.length <= limit);
        assert.equal(page.remaining, keys.length - found.length);
        const after = found.at(-1);
        if (page.remaining === 0 || after === undefined) break;
        page = await store.scan('/a/', { limit, after, at: page.revision });
      }
      assert.deepEqual(found, keys);
    }
    assert.deepEqual((await store.scan('/a/', { after: '/a/24' })).entries, []);
    assert.equal((await store.scan('/a/', { after: '/A' })).entries.length, 25);
    assert.deepEqual((await store.scan('/a/', { after: '/b' })).entries, []);
  },

  async 'pages of one revision are consistent, whatever is written between them'(store) {
    const keys = Array.from({ length: 12 }, (_, index) => `/a/${String(index).padStart(2, '0')}`);
    for (const key of keys) await putDocument(store, key, versioned('before'));
    const first = await store.scan('/a/', { limit: 5 });
    const at = first.revision;
    await putDocument(store, '/a/03', versioned('after'));
    await putDocument(store, '/a/08', versioned('after'));
    await putDocument(store, '/a/08', versioned('later'));
    await remove(store, '/a/06');
    await remove(store, '/a/11');
    await putDocument(store, '/a/055', versioned('new'));
    await putDocument(store, '/a/99', versioned('new'));
    await putDocument(store, '/a/99', versioned('newer'));
    await remove(store, '/a/10');
    await putDocument(store, '/a/10', versioned('again'));
    for (const limit of [1, 3, 7, 100]) {
      const found = [...first.entries];
      while (true) {
        const page = await store.scan('/a/', { limit, at, after: present(found.at(-1)).key });
        assert.equal(page.revision, at);
        found.push(...page.entries);
        assert.equal(page.remaining, keys.length - found.length);
        if (page.remaining === 0) break;
      }
      assert.deepEqual(
        found.map(({ key }) => key),
        keys,
      );
      for (const { value, revision } of found) assert.deepEqual(value, { rv: String(revision), name: 'before' });
    }
    const page = await store.scan('/a/', { at, limit: 5 });
    assert.deepEqual(
      page.entries.map(({ key }) => key),
      keys.slice(0, 5),
    );
    assert.equal(page.remaining, 7);
  },

  async 'a scan at a past revision returns the state at that revision'(store) {
    const random = randomNumbers(7);
    const views: { readonly revision: Revision; readonly view: readonly string[] }[] = [];
    const live = new Map<string, string>();
    for (let step = 0; step < 60; step++) {
      const key = `/k/${random(8)}`;
      const entry =
        live.has(key) && random(3) === 0
          ? await remove(store, key)
          : await putDocument(store, key, versioned(`${step}`));
      if ((await store.get(key)) === undefined) live.delete(key);
      else live.set(key, entry.bytes.toString());
      views.push({
        revision: entry.revision,
        view: [...live.keys()].toSorted().map((name) => present(live.get(name))),
      });
    }
    for (const { revision, view } of views) {
      const { entries, revision: at } = await store.scan('/k/', { at: revision });
      assert.equal(at, revision);
      assert.deepEqual(
        entries.map(({ bytes }) => bytes.toString()),
        view,
        `at ${revision}`,
      );
    }
  },

  async 'a scan of a future revision fails with the current one'(store) {
    const { revision } = await putDocument(store, '/a', versioned('one'));
    await assert.rejects(
      store.scan('/', { at: revision + 1_000n }),
      (error) => error instanceof RevisionInFuture && error.current === revision,
    );
  },

  async 'a stream emits every later change under its prefix, in order, with the previous entry'(store) {
    const start = (await putDocument(store, '/a/1', versioned('one'))).revision;
    const seen: Change[] = [];
    const subscription = store.changes('/a/', start).subscribe((change) => {
      if (change.type !== 'progress') seen.push(change);
    });
    const second = await putDocument(store, '/a/1', versioned('two'));
    await putDocument(store, '/b/1', versioned('other'));
    await putDocument(store, '/a', versioned('other'));
    const third = await putDocument(store, '/a/2', versioned('three'));
    const deleted = await remove(store, '/a/1');
    await until(() => seen.length >= 3);
    subscription.unsubscribe();
    assert.deepEqual(seen.map(line), [
      `put /a/1 ${second.revision}`,
      `put /a/2 ${third.revision}`,
      `delete /a/1 ${deleted.revision}`,
    ]);
    const [update, creation, deletion] = seen;
    assert.ok(update?.type === 'put' && creation?.type === 'put' && deletion?.type === 'delete');
    assert.deepEqual(update.entry.value, { rv: String(second.revision), name: 'two' });
    assert.deepEqual(update.previous?.value, { rv: String(start), name: 'one' });
    assert.equal(update.previous?.revision, start);
    assert.equal(creation.previous, undefined);
    assert.deepEqual(deletion.entry.value, { rv: String(deleted.revision), name: 'two' });
    assert.deepEqual(deletion.previous.value, { rv: String(second.revision), name: 'two' });
  },

  async 'a stream from a past revision emits the changes since, then progress, then new changes'(store) {
    const start = await store.revision();
    const one = await putDocument(store, '/a/one', versioned('one'));
    const other = await putDocument(store, '/b/other', versioned('other'));
    const two = await remove(store, '/a/one');
    const past = [`put /a/one ${one.revision}`, `delete /a/one ${two.revision}`];
    for (const after of [start, one.revision, other.revision, two.revision]) {
      const expected = past.filter((entry) => revisionOf(entry) > after);
      const watch = follow(store, '/a/', after);
      assert.deepEqual(await watch.take(expected.length), expected);
      assert.ok((await watch.progress()) >= after);
      const next = await putDocument(store, '/a/next', versioned('next'));
      past.push(...(await watch.take(1)));
      assert.equal(past.at(-1), `put /a/next ${next.revision}`);
      watch.stop();
    }
  },

  async 'a stream without past changes emits progress at once'(store) {
    const { revision } = await putDocument(store, '/a', versioned('one'));
    const other = await putDocument(store, '/elsewhere', versioned('two'));
    for (const after of [revision, other.revision]) {
      const watch = follow(store, '/nothing/', after);
      const progress = await watch.progress();
      assert.ok(progress >= after && progress <= other.revision, `${progress}`);
      watch.stop();
    }
  },

  async 'a stream from a future revision emits nothing before it'(store) {
    const { revision } = await putDocument(store, '/a', versioned('one'));
    const watch = follow(store, '/', revision + 2n);
    const later: Entry[] = [];
    for (const name of ['two', 'three', 'four']) later.push(await putDocument(store, '/a', versioned(name)));
    const expected = later.filter((entry) => entry.revision > revision + 2n).map((entry) => `put /a ${entry.revision}`);
    assert.deepEqual(await watch.take(expected.length), expected);
    watch.stop();
  },

  async 'streams are independent: one that ends or fails does not disturb others'(store) {
    const start = await store.revision();
    const leaving = follow(store, '/', start);
    const stays = follow(store, '/', start);
    const first = await putDocument(store, '/a', versioned('one'));
    assert.deepEqual(await leaving.take(1), [`put /a ${first.revision}`]);
    leaving.stop();
    const second = await putDocument(store, '/a', versioned('two'));
    assert.deepEqual(await stays.take(2), [`put /a ${first.revision}`, `put /a ${second.revision}`]);
    assert.equal(leaving.told(), 1);
    stays.stop();
  },

  async 'every stream emits the changes in the same order, including those made by a subscriber'(store) {
    const start = await store.revision();
    const reactions: Promise<Entry>[] = [];
    const reacting = store.changes('/a/', start).subscribe((change) => {
      if (change.type !== 'put' || reactions.length >= 5) return;
      const copy = `/a/copy${reactions.length}`;
      reactions.push(store.commit({ key: copy, document: versioned(copy), expect: 'absent' }));
    });
    const before = follow(store, '/a/', start);
    await putDocument(store, '/a/0', versioned('start'));
    const received = await before.take(6);
    const after = follow(store, '/a/', start);
    assert.deepEqual(await after.take(6), received);
    const committed = await Promise.all(reactions);
    assert.deepEqual(
      received.slice(1),
      committed.map(({ key, revision }) => `put ${key} ${revision}`),
    );
    reacting.unsubscribe();
    before.stop();
    after.stop();
  },

  async 'a change is readable when a stream emits it'(store) {
    const start = await store.revision();
    const reads: Promise<Entry | undefined>[] = [];
    const subscription = store.changes('/', start).subscribe((change) => {
      if (change.type !== 'progress') reads.push(store.get(change.entry.key));
    });
    const committed = await putDocument(store, '/a', versioned('one'));
    await until(() => reads.length === 1);
    assert.equal((await reads[0])?.revision, committed.revision);
    subscription.unsubscribe();
  },

  async 'compaction fails only the scans and streams that need the compacted history'(store) {
    if (store.compact === undefined) return;
    const start = await store.revision();
    const one = await putDocument(store, '/a', versioned('one'));
    const two = await putDocument(store, '/a', versioned('two'));
    const three = await putDocument(store, '/b', versioned('three'));
    await store.compact(two.revision);
    const compacted = (error: unknown): boolean => error instanceof HistoryCompacted && error.oldest === two.revision;
    await assert.rejects(store.scan('/', { at: one.revision }), compacted);
    assert.equal((await store.scan('/', { at: two.revision })).entries.length, 1);
    assert.equal((await store.scan('/', { at: three.revision })).entries.length, 2);
    for (const after of [start, one.revision]) {
      await assert.rejects(follow(store, '/', after).take(1), compacted);
    }
    const watch = follow(store, '/', two.revision);
    assert.deepEqual(await watch.take(1), [`put /b ${three.revision}`]);
    watch.stop();
    assert.equal(present(await store.get('/a')).revision, two.revision);
  },

  async 'subscribers that come and go see every change exactly once and in order, during compaction'(store) {
    const random = randomNumbers(42);
    const start = await store.revision();
    const written: string[] = [];
    const live = new Map<string, Revision>();
    let writing = true;

    const write = async (writer: number): Promise<void> => {
      for (let step = 0; step < 60; step++) {
        const key = `/p${random(3)}/w${writer}-${random(4)}`;
        const expect = live.get(key);
        const deletes = expect !== undefined && random(4) === 0;
        const doc = deletes ? undefined : versioned(`${writer}.${step}`);
        const { revision } = await store.commit({ key, document: doc, expect: expect ?? 'absent' });
        if (deletes) live.delete(key);
        else live.set(key, revision);
        written.push(`${deletes ? 'delete' : 'put'} ${key} ${revision}`);
        if (random(5) === 0) await nextTurn();
      }
    };

    const forget = async (): Promise<void> => {
      while (writing) {
        await nextTurn();
        if (random(40) === 0) await store.compact?.((await store.revision()) - BigInt(random(30)));
      }
    };

    const bouts = new Set<() => void>();
    /** Reads in runs, resuming after the last revision received; starts over from a scan after a compaction. */
    const read = async (prefix: string): Promise<readonly Run[]> => {
      let run: Run = { after: start, told: [] };
      const runs = [run];
      let after = start;
      while (writing || after < (await store.revision())) {
        const bout = random(25) + 1;
        const batches = changeBatches(store.changes(prefix, after));
        const leave = (): void => void batches.return?.();
        bouts.add(leave);
        try {
          let count = 0;
          for await (const batch of batches) {
            for (const change of batch.slice(0, bout - count)) {
              count++;
              if (change.type !== 'progress') run.told.push(line(change));
              const revision = change.type === 'progress' ? change.revision : change.entry.revision;
              assert.ok(revision >= after, `${line(change)} was emitted after ${after}`);
              after = revision;
            }
            if (count >= bout || !writing) break;
          }
        } catch (error) {
          assert.ok(error instanceof HistoryCompacted, String(error));
          after = (await store.scan(prefix)).revision;
          run = { after, told: [] };
          runs.push(run);
        }
        bouts.delete(leave);
        await nextTurn();
      }
      return runs;
    };

    const prefixes = ['/', '/p0/', '/p1/', '/p2/w1', '/none/'];
    const reading = Promise.all(prefixes.map(read));
    const forgetting = forget();
    await Promise.all([0, 1, 2, 3].map(write));
    writing = false;
    for (const leave of bouts) leave();
    await forgetting;
    const order = written.toSorted((a, b) => Number(revisionOf(a) - revisionOf(b)));
    for (const [index, runs] of (await reading).entries()) {
      const matching = order.filter((entry) => entry.split(' ')[1]?.startsWith(prefixes[index] ?? '') === true);
      for (const run of runs) {
        const due = matching.filter((entry) => revisionOf(entry) > run.after);
        assert.deepEqual(run.told, run === runs.at(-1) ? due : due.slice(0, run.told.length), prefixes[index]);
      }
    }
  },

  async 'closing completes every stream, and every later call fails'(store) {
    const { revision } = await putDocument(store, '/a', versioned('one'));
    const ends = ['/', '/none'].map(
      (prefix) =>
        new Promise<void>((resolve, reject) => {
          store.changes(prefix, revision).subscribe({ complete: resolve, error: reject });
        }),
    );
    await store.close();
    await Promise.all(ends);
    await store.close();
    await assert.rejects(store.get('/a'), StoreClosed);
    await assert.rejects(store.scan('/'), StoreClosed);
    await assert.rejects(store.revision(), StoreClosed);
    await assert.rejects(store.commit({ key: '/b', document: versioned('two'), expect: 'absent' }), StoreClosed);
    await new Promise<void>((resolve, reject) => {
      store.changes('/', revision).subscribe({ complete: resolve, error: reject });
    });
  },
};

/** The changes that one reader received without a gap. */
interface Run {
  readonly after: Revision;
  readonly told: string[];
}

const versioned = (name: string): Document => ({ bytes: Buffer.from(`{"rv":"","name":"${name}"}`), revisionAt: 7 });

async function putDocument(store: Store, key: string, value: Document): Promise<Entry> {
  const now = await store.get(key);
  return store.commit({ key, document: value, expect: now?.revision ?? 'absent' });
}

async function remove(store: Store, key: string): Promise<Entry> {
  return store.commit({ key, document: undefined, expect: present(await store.get(key)).revision });
}

async function keysOf(store: Store, prefix: string): Promise<readonly string[]> {
  return (await store.scan(prefix)).entries.map(({ key }) => key);
}

async function conflict(commit: Promise<Entry>): Promise<WriteConflict> {
  const [outcome] = await Promise.allSettled([commit]);
  assert.ok(outcome.status === 'rejected', 'the write did not fail');
  assert.ok(outcome.reason instanceof WriteConflict, String(outcome.reason));
  return outcome.reason;
}

/** Reads a stream as lines such as `put /a 5`; progress marks are kept separately. */
function follow(store: Store, prefix: string, after: Revision) {
  const batches = changeBatches(store.changes(prefix, after));
  const waiting: string[] = [];
  let taken = 0;
  let progress: Revision | undefined;
  const read = async (): Promise<void> => {
    const { done, value } = await batches.next();
    assert.ok(!done, 'the stream completed');
    for (const change of value) {
      if (change.type === 'progress') progress = change.revision;
      else waiting.push(line(change));
    }
  };
  return {
    /** Returns the next `count` changes. */
    async take(count: number): Promise<readonly string[]> {
      while (waiting.length < count) await read();
      taken += count;
      return waiting.splice(0, count);
    },
    /** Returns the last progress mark; waits for one if there was none, which must arrive before any other change. */
    async progress(): Promise<Revision> {
      while (progress === undefined) {
        await read();
        assert.deepEqual(waiting, []);
      }
      return progress;
    },
    told: (): number => taken + waiting.length,
    stop: (): void => void batches.return?.(),
  };
}

const line = (change: Change): string =>
  change.type === 'progress'
    ? `progress ${change.revision}`
    : `${change.type} ${change.entry.key} ${change.entry.revision}`;

const revisionOf = (text: string): Revision => BigInt(text.split(' ')[2] ?? '');

function present<T>(value: T | undefined): T {
  assert.ok(value !== undefined, 'nothing is there');
  return value;
}

/** Lets all other pending work run once. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await nextTurn();
}

async function repeat(times: number, act: () => Promise<void>): Promise<void> {
  for (let count = 0; count < times; count++) await act();
}

/** Returns a generator of whole numbers from 0 to below a bound, the same for the same seed (mulberry32). */
function randomNumbers(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}
