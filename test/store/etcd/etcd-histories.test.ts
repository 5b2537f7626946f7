import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '../../../src/api/object.js';
import { document } from '../../../src/store/document.js';
import type { EtcdClient } from '../../../src/store/etcd/etcd-client.js';
import type { EtcdStore } from '../../../src/store/etcd/etcd-store.js';
import { openEtcdStore } from '../../../src/store/etcd/open-etcd-store.js';
import { type Revision, WriteConflict } from '../../../src/store/store.js';
import { StoreUnavailable } from '../../../src/store/store-unavailable.js';
import { changeBatches } from '../../../src/testing/change-batches.js';
import { type Random, randomFrom } from '../../fuzz/random.js';
import { type EtcdProcess, etcdInstalled, startEtcd } from './etcd-process.js';

if (!etcdInstalled) console.warn('There is no etcd on the PATH: the histories of the etcd store are not checked.');

let etcd: EtcdProcess;
if (etcdInstalled) {
  beforeAll(async () => {
    etcd = await startEtcd();
  });
  afterAll(() => etcd.stop());
}

/** A connection that, once trouble has begun, loses requests and answers, and breaks watches. */
const unreliable =
  (random: Random, trouble: { readonly begun: boolean }) =>
  (client: EtcdClient): EtcdClient => ({
    ...client,
    async txn(request) {
      const luck = trouble.begun ? random.below(20) : -1;
      if (luck === 0) throw new StoreUnavailable('the request was lost');
      const answer = await client.txn(request);
      if (luck === 1) throw new StoreUnavailable('the answer was lost');
      return answer;
    },
    watch(request, { response, ended }) {
      let over = false;
      const stop = client.watch(request, {
        response(message) {
          if (over) return;
          if (!trouble.begun || !random.oneIn(40)) return response(message);
          over = true;
          stop();
          ended(new StoreUnavailable('the watch broke'));
        },
        ended: (error) => over || ended(error),
      });
      return stop;
    },
  });

/** A change as emitted or as acknowledged; without a value, a deletion. */
interface HistoryEvent {
  readonly revision: Revision;
  readonly key: string;
  readonly value: Json | undefined;
}

/** An acknowledged write, with the revision that it replaced. */
interface Acknowledged extends HistoryEvent {
  readonly expected: Revision;
}

const keys = ['/a', '/b', '/c'];

/** Writes to random keys through random stores. Returns the acknowledged writes, and the values of rejected ones. */
async function writeSome(name: string, stores: readonly EtcdStore[], random: Random) {
  const acknowledged: Acknowledged[] = [];
  const refused: Json[] = [];
  const latest = new Map<string, Revision>();
  for (let count = 0; count < 40; count++) {
    const key = random.pick(keys);
    const known = await random.pick(stores).get(key);
    if (known !== undefined) expect(known.revision).toBeGreaterThanOrEqual(latest.get(key) ?? 0n);
    const value = known !== undefined && random.oneIn(4) ? undefined : `${name}-${count}`;
    const written = value === undefined ? undefined : document(value);
    try {
      const expect = known?.revision ?? 'absent';
      const { revision } = await random.pick(stores).commit({ key, document: written, expect });
      latest.set(key, revision);
      acknowledged.push({ revision, key, value, expected: known?.revision ?? 0n });
    } catch (error) {
      if (error instanceof WriteConflict && value !== undefined) refused.push(value);
      else if (!(error instanceof WriteConflict || error instanceof StoreUnavailable)) throw error;
    }
  }
  return { acknowledged, refused };
}

const lastKey = '/last';

/** Follows the changes after a revision up to that of the last key, a few from each store in turn. */
async function follow(stores: readonly EtcdStore[], after: Revision, random: Random) {
  const events: HistoryEvent[] = [];
  let revision = after;
  for (let turn = random.below(stores.length); events.at(-1)?.key !== lastKey; turn++) {
    const batches = changeBatches((stores[turn % stores.length] as EtcdStore).changes('/', revision));
    const enough = events.length + 1 + random.below(20);
    while (events.length < enough && events.at(-1)?.key !== lastKey) {
      for (const change of (await batches.next()).value ?? []) {
        if (change.type === 'progress') {
          if (change.revision > revision) revision = change.revision;
          continue;
        }
        expect(change.entry.revision).toBeGreaterThan(revision);
        ({ revision } = change.entry);
        events.push({ revision, key: change.entry.key, value: change.type === 'put' ? change.entry.value : undefined });
      }
    }
    await batches.return?.();
  }
  return events;
}

/** Reads everything in pages, each from another store, until `isOver`. */
async function readPages(stores: readonly EtcdStore[], isOver: () => boolean, random: Random) {
  const lists: { readonly revision: Revision; readonly values: readonly Json[] }[] = [];
  while (!isOver()) {
    const first = await random.pick(stores).scan('/', { limit: 1 });
    const after = first.entries.at(-1)?.key;
    const rest =
      after === undefined ? [] : (await random.pick(stores).scan('/', { at: first.revision, after })).entries;
    lists.push({ revision: first.revision, values: [...first.entries, ...rest].map(({ value }) => value) });
  }
  return lists;
}

/** The values at a revision, in the order of their keys. */
function valuesAt(events: readonly HistoryEvent[], revision: Revision): readonly Json[] {
  const live = new Map(events.filter((change) => change.revision <= revision).map(({ key, value }) => [key, value]));
  return keys.flatMap((key) => live.get(key) ?? []);
}

test.skipIf(!etcdInstalled).each([1, 2, 3])(
  'stores with unreliable connections emit each change once and in order, and lose no update (seed %d)',
  async (seed) => {
    const random = randomFrom(seed);
    const trouble = { begun: false };
    const wrapClient = unreliable(random, trouble);
    const options = { endpoints: [etcd.endpoint], prefix: `/histories-${seed}`, progressMs: 50, wrapClient };
    const stores = await Promise.all(Array.from({ length: 3 }, () => openEtcdStore(options)));
    trouble.begun = true;
    const begin = await (stores[0] as EtcdStore).revision();
    let isOver = false;
    const following = Promise.all(stores.map(() => follow(stores, begin, random)));
    const reading = readPages(stores, () => isOver, random);
    const written = await Promise.all(['x', 'y', 'z'].map((name) => writeSome(name, stores, random)));
    isOver = true;
    const lists = await reading;
    trouble.begun = false;
    await stores[0]?.commit({ key: lastKey, document: document('last'), expect: 'absent' });
    const [events = [], ...others] = await following;
    for (const other of others) expect(other).toEqual(events);

    const previous = new Map<string, Revision>();
    const replaced = events.map(({ revision, key, value }) => {
      const expected = previous.get(key) ?? 0n;
      previous.set(key, value === undefined ? 0n : revision);
      return { revision, key, value, expected };
    });
    const byRevision = new Map(replaced.map((change) => [change.revision, change]));
    for (const write of written.flatMap(({ acknowledged }) => acknowledged))
      expect(byRevision.get(write.revision)).toEqual(write);
    const values = events.flatMap(({ value }) => value ?? []);
    expect(new Set(values).size).toBe(values.length);
    for (const value of written.flatMap(({ refused }) => refused)) expect(values).not.toContain(value);
    for (const { revision, values: listed } of lists) expect(listed).toEqual(valuesAt(events, revision));
    await Promise.all(stores.map((store) => store.close()));
  },
  30_000,
);
