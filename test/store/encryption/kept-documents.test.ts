import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/api/object.js';
import { systemClock } from '../../../src/runtime/clock.js';
import { silentLogger } from '../../../src/runtime/logger.js';
import { copyStore } from '../../../src/store/copy-store.js';
import { document, UnreadEntry } from '../../../src/store/document.js';
import { aesGcm } from '../../../src/store/encryption/aes.js';
import {
  type Encryption,
  identity,
  keyProvider,
  type Provider,
  ResourceEncryption,
} from '../../../src/store/encryption/encryption.js';
import { KmsProvider } from '../../../src/store/encryption/kms/kms-provider.js';
import { secretbox } from '../../../src/store/encryption/secretbox.js';
import { openEtcdStore } from '../../../src/store/etcd/open-etcd-store.js';
import { openLevelStore } from '../../../src/store/level/level-store.js';
import { MemoryStore } from '../../../src/store/memory/memory-store.js';
import { HistoryCompacted, type Revision, type Store } from '../../../src/store/store.js';
import { changeBatches } from '../../../src/testing/change-batches.js';
import { storeContract } from '../../../src/testing/store-contract.js';
import { type EtcdProcess, etcdInstalled, startEtcd } from '../etcd/etcd-process.js';
import { versioned } from '../versioned.js';
import { FakeKeyService } from './fake-key-service.js';

/** The stored form of documents outside of the process. */

if (!etcdInstalled) console.warn('There is no etcd on the PATH: that etcd gets documents encrypted is not tested.');

const one = keyProvider('k8s:enc:aesgcm:v1:one:', aesGcm(Buffer.alloc(32, 1)));
const two = keyProvider('k8s:enc:secretbox:v1:two:', secretbox(Buffer.alloc(32, 2)));
const by = (...providers: [Provider, ...Provider[]]): Encryption =>
  new ResourceEncryption(new Map([['core/secrets', providers]]));

const root = mkdtempSync(join(tmpdir(), 'kept-documents-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let etcd: EtcdProcess;
if (etcdInstalled) {
  beforeAll(async () => {
    etcd = await startEtcd();
  });
  afterAll(() => etcd.stop());
}
let made = 0;

interface Kind {
  readonly name: string;
  readonly isHere: boolean;
  readonly mayBeShared: boolean;
  /** Creates a place for a store, and returns a function that opens the same store in each call. */
  place(): (encryption?: Encryption) => Promise<Store & { compact?(revision: bigint): Promise<void> }>;
}
const given = (encryption?: Encryption) => (encryption === undefined ? {} : { encryption });
const kinds: readonly Kind[] = [
  {
    name: 'the embedded store',
    isHere: true,
    mayBeShared: false,
    place: () => {
      const directory = join(root, `store-${made++}`);
      return (encryption) => openLevelStore(directory, given(encryption));
    },
  },
  {
    name: 'the etcd store',
    isHere: etcdInstalled,
    mayBeShared: true,
    place: () => {
      const prefix = `/kept-${made++}`;
      return (encryption) => openEtcdStore({ endpoints: [etcd.endpoint], prefix, ...given(encryption) });
    },
  },
];
const key = 'core/secrets/default/a';
const put = async (store: Store, at: string, text: string) => {
  const now = await store.get(at);
  return store.commit({ key: at, document: versioned(text), expect: now?.revision ?? 'absent' });
};

describe('the embedded store with everything encrypted fulfils the store contract', () => {
  const encryption = new ResourceEncryption(new Map([['*/*', [one]]]));
  const open = () => openLevelStore(join(root, `store-${made++}`), { encryption });
  for (const { name, run } of storeContract(open)) test(name, run);
});

const parts = { name: 'vault', clock: systemClock, log: silentLogger };

for (const { name, isHere, mayBeShared, place } of kinds) {
  describe.skipIf(!isHere)(name, () => {
    test('readers get plain documents, before and after a restart', async () => {
      const open = place();
      const first = await open(by(one));
      const { revision } = await put(first, key, 'hidden');
      const read = async (store: Store) => {
        const entry = await store.get(key);
        const [listed] = (await store.scan('core/')).entries;
        expect([entry?.bytes.toString(), listed?.value, entry?.keptAs]).toEqual([
          `{"text":"hidden","version":"${revision}"}`,
          { text: 'hidden', version: String(revision) },
          one.prefix,
        ]);
      };
      await read(first);
      await first.close();
      const again = await open(by(one));
      await read(again);
      const batches = changeBatches(again.changes('core/', revision - 1n));
      const [change] = (await batches.next()).value ?? [];
      expect(change?.type === 'put' && change.entry.value).toMatchObject({ text: 'hidden' });
      await batches.return?.();
      await again.close();
    });

    test('an entry is stale once another key writes, until it is written again', async () => {
      const open = place();
      const before = await open();
      await put(before, key, 'a');
      await put(before, 'core/configmaps/default/a', 'a');
      await before.close();
      const store = await open(by(two, one, identity));
      const stale = async (at: string) => {
        const entry = await store.get(at);
        return entry && store.isStale?.(entry);
      };
      expect([await stale(key), await stale('core/configmaps/default/a')]).toEqual([true, false]);
      await put(store, key, 'a');
      expect(await stale(key)).toBe(false);
      await store.close();
      const without = await open(by(identity, two));
      const entry = await without.get(key);
      expect(entry && without.isStale?.(entry)).toBe(true);
      await without.close();
    });

    test('an undecryptable document fails alone, and is readable once its key is there', async () => {
      const open = place();
      const before = await open(by(one));
      const { revision } = await put(before, key, 'a');
      await put(before, key, 'b');
      await put(before, 'core/configmaps/default/a', 'a');
      await before.close();

      let current = by(two);
      const store = await open({
        writesAs: (at) => current.writesAs(at),
        encrypt: (at, bytes) => current.encrypt(at, bytes),
        decrypt: (at, kept) => current.decrypt(at, kept),
      });
      const why = `Internal error occurred: unable to transform key "${key}": no matching prefix found`;
      await expect(store.get(key)).rejects.toThrow(why);
      await expect(store.scan('core/')).rejects.toThrow(why);
      const { entries } = await store.scan('core/', { tolerant: true });
      expect(entries.map((entry) => entry.key)).toEqual(['core/configmaps/default/a', key]);
      expect(() => entries[1]?.value).toThrow(why);
      expect(() => entries[1]?.bytes).toThrow(why);
      // Other data that was read with the record is not kept in memory.
      const kept = (entries[1] as UnreadEntry).kept;
      expect(kept.buffer.byteLength).toBeLessThan(kept.length + 100);
      expect((await store.get('core/configmaps/default/a'))?.value).toMatchObject({ text: 'a' });
      await expect(changeBatches(store.changes('core/', revision)).next()).rejects.toThrow(HistoryCompacted);

      const other = new MemoryStore({ after: (await store.revision()) + 1n });
      await expect(copyStore(store, other, await store.revision())).rejects.toThrow(why);
      const left: string[] = [];
      expect(await copyStore(store, other, await store.revision(), (at, error) => left.push(`${at} ${error}`))).toBe(1);
      expect(left).toEqual([expect.stringContaining(`${key} `)]);
      expect((await other.scan('')).entries.map((entry) => entry.key)).toEqual(['core/configmaps/default/a']);

      current = by(two, one);
      expect((await store.get(key))?.value).toMatchObject({ text: 'b' });
      expect((await store.scan('core/')).entries).toHaveLength(2);
      await put(store, key, 'c');
      expect((await store.get(key))?.keptAs).toBe(two.prefix);
      await store.close();
    });

    test('a copy leaves out unreadable documents, even the first of all', async () => {
      const open = place();
      const before = await open(by(one));
      await put(before, 'core/secrets/default/a', 'a');
      await put(before, 'core/services/default/a', 'a');
      await before.close();
      const store = await open(by(two));
      const other = new MemoryStore({ after: (await store.revision()) + 1n });
      const left: string[] = [];
      expect(await copyStore(store, other, await store.revision(), (at) => left.push(at))).toBe(1);
      expect(left).toEqual(['core/secrets/default/a']);
      await store.close();
    });

    test('watches of readable documents go on, and only the others have to list again', async () => {
      const open = place();
      const secrets = 'core/secrets/';
      const maps = 'core/configmaps/';
      const before = await open(by(one));
      const { revision } = await put(before, `${maps}default/a`, 'a');
      await put(before, key, 'b');
      await put(before, `${maps}default/a`, 'c');
      if (!mayBeShared) await before.close();
      const store = await open(by(two));
      const nextOf = (prefix: string, after: Revision) => {
        const batches = changeBatches(store.changes(prefix, after));
        return async (): Promise<unknown> => {
          while (true) {
            for (const change of (await batches.next()).value ?? [])
              if (change.type !== 'progress') return (change.entry.value as JsonObject)['text'];
          }
        };
      };
      const next = nextOf(maps, revision);
      expect(await next()).toBe('c');
      await expect(nextOf(secrets, revision)()).rejects.toThrow(HistoryCompacted);
      await expect(nextOf('core/', revision)()).rejects.toThrow(HistoryCompacted);

      const now = await store.revision();
      const nextSecret = nextOf(secrets, now);
      if (mayBeShared) {
        await put(before, key, 'd');
        await put(before, `${maps}default/a`, 'e');
        await expect(nextSecret()).rejects.toThrow(HistoryCompacted);
        await before.close();
      } else await put(store, `${maps}default/a`, 'e');
      expect(await next()).toBe('e');
      const after = nextOf(secrets, await store.revision());
      await put(store, `${secrets}default/other`, 'f');
      expect(await after()).toBe('f');
      await store.close();
    });

    test('a watch of a document that was unreadable lists again, even if its successor is readable', async () => {
      const open = place();
      const before = await open(by(one));
      const { revision } = await put(before, key, 'a');
      await before.close();
      const both = await open(by(two, one));
      await put(both, key, 'b');
      await both.close();
      const store = await open(by(two));
      expect((await store.get(key))?.value).toMatchObject({ text: 'b' });
      await expect(changeBatches(store.changes('core/', revision)).next()).rejects.toThrow(HistoryCompacted);
      await store.close();
    });

    test('documents written with another key of a key service are read in order, however slow it is', async () => {
      const open = place();
      const service = new FakeKeyService();
      const stopping = new AbortController();
      const through = async () => {
        const provider = new KmsProvider({ ...parts, service, signal: stopping.signal });
        await provider.start();
        return by(provider);
      };
      const first = await open(await through());
      const { revision } = await put(first, key, 'a');
      await first.close();

      service.keyId = 'key-2';
      const store = await open(await through());
      expect((await store.get(key))?.value).toMatchObject({ text: 'a' });
      expect((await store.get(key))?.keptAs).toBe('k8s:enc:kms:v2:vault:key-1');
      const batches = changeBatches(store.changes('core/', revision - 1n));
      const told: unknown[] = [];
      const next = async (count: number): Promise<void> => {
        while (told.length < count) {
          for (const change of (await batches.next()).value ?? [])
            if (change.type !== 'progress') told.push((change.entry.value as JsonObject)['text']);
        }
      };
      await next(1);
      if (mayBeShared) {
        service.keyId = 'key-3';
        const other = await open(await through());
        let release = (): void => {};
        service.held = new Promise<void>((resolve) => {
          release = resolve;
        });
        await put(other, key, 'b');
        await put(other, 'core/configmaps/default/a', 'c');
        // Both changes were sent to the first one, which waits for the key of one of them.
        await expect.poll(() => service.asked.filter((what) => what.startsWith('decrypt key-3'))).toHaveLength(1);
        expect(told).toEqual(['a']);
        release();
        await next(3);
        await other.close();
      } else {
        await put(store, key, 'b');
        await put(store, 'core/configmaps/default/a', 'c');
        await next(3);
      }
      expect(told).toEqual(['a', 'b', 'c']);
      await batches.return?.();
      stopping.abort();
      await store.close();
    });

    test('documents of a key service are readable once the store is open, and the first attempt is not a failure', async () => {
      const open = place();
      const stopping = new AbortController();
      const counted = new Set<string>();
      const through = async (service: FakeKeyService) => {
        const provider = new KmsProvider({ ...parts, service, signal: stopping.signal });
        await provider.start();
        const begin = (type: string) => (prefix: string | undefined, isGood: boolean) =>
          void counted.add(`${type} ${prefix} ${isGood}`);
        return new ResourceEncryption(new Map([['core/secrets', [provider]]]), { begin });
      };
      const service = new FakeKeyService();
      const first = await open(await through(service));
      await put(first, key, 'a');
      await first.close();
      const all = async (): Promise<readonly unknown[]> => {
        counted.clear();
        const store = await open(await through(service));
        const { entries } = await store.scan('', { tolerant: true });
        const found = entries.map((entry) => !(entry instanceof UnreadEntry) || entry.isRead);
        await store.close();
        return found;
      };
      const read = 'from_storage k8s:enc:kms:v2:vault:';
      expect(await all()).toEqual([true]);
      expect([...counted]).toEqual([`${read} true`]);
      service.failure = new Error('sealed');
      expect(await all()).toEqual([false]);
      expect([...counted]).toEqual([`${read} false`]);
      stopping.abort();
    });

    test('an undecryptable document that was deleted stays deleted', async () => {
      const open = place();
      const before = await open(by(one));
      const { revision } = await put(before, key, 'a');
      await before.commit({ key, document: undefined, expect: revision });
      await before.close();
      const store = await open(by(two));
      expect(await store.get(key)).toBeUndefined();
      expect((await store.scan('')).entries).toEqual([]);
      await put(store, key, 'new');
      await store.close();
      const again = await open(by(two));
      expect((await again.get(key))?.value).toMatchObject({ text: 'new' });
      await again.close();
    });
  });
}

test('no plaintext of a document is in the files of the embedded store', async () => {
  const directory = join(root, `store-${made++}`);
  const store = await openLevelStore(directory, { encryption: by(one) });
  await put(store, key, 'a-text-that-nobody-shall-find');
  await put(store, 'core/configmaps/default/a', 'a-text-that-may-be-found');
  await store.close();
  const files = readdirSync(directory).map((file) => readFileSync(join(directory, file)));
  const holds = (text: string): boolean => files.some((bytes) => bytes.includes(text));
  expect([holds('shall-find'), holds('may-be-found'), holds(one.prefix)]).toEqual([false, true, true]);
});

test("a copy is encrypted by the target's rules", async () => {
  const from = new MemoryStore();
  await put(from, key, 'a');
  await from.commit({ key: 'core/secrets/default/plain', document: document('x'), expect: 'absent' });
  const directory = join(root, `store-${made++}`);
  const to = await openLevelStore(directory, { encryption: by(one), after: 10n });
  expect(await copyStore(from, to, await from.revision())).toBe(2);
  expect((await to.scan('core/')).entries.map(({ keptAs }) => keptAs)).toEqual([one.prefix, one.prefix]);
  await to.close();
});
