import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:http2';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { silentLogger } from '../../../src/runtime/logger.js';
import { document } from '../../../src/store/document.js';
import { createEtcdClient, type EtcdClient } from '../../../src/store/etcd/etcd-client.js';
import type { EtcdStore, EtcdStoreOptions } from '../../../src/store/etcd/etcd-store.js';
import type { Operation, TxnResponse, WatchEvent, WatchResponse } from '../../../src/store/etcd/messages.js';
import { openEtcdStore } from '../../../src/store/etcd/open-etcd-store.js';
import { HistoryCompacted, type Revision, type Store, StoreClosed, WriteConflict } from '../../../src/store/store.js';
import { StoreUnavailable } from '../../../src/store/store-unavailable.js';
import { changeBatches } from '../../../src/testing/change-batches.js';
import { settled } from '../../../src/testing/fake-clock.js';
import { storeContract } from '../../../src/testing/store-contract.js';
import { type EtcdProcess, etcdInstalled, startEtcd } from './etcd-process.js';

if (!etcdInstalled) console.warn('There is no etcd on the PATH: the tests of the etcd store are skipped.');

let etcd: EtcdProcess;
let made = 0;
const open = (options: Partial<EtcdStoreOptions> = {}): Promise<EtcdStore> =>
  openEtcdStore({ endpoints: [etcd.endpoint], prefix: `/test-${made++}`, ...options });

if (etcdInstalled) {
  beforeAll(async () => {
    etcd = await startEtcd();
  });
  afterAll(() => etcd.stop());
}

/** Returns the next changes of a stream as text. */
function reader(store: Store, after: Revision) {
  const batches = changeBatches(store.changes('/', after));
  const waiting: string[] = [];
  return {
    async take(count: number): Promise<readonly string[]> {
      while (waiting.length < count) {
        const { done, value } = await batches.next();
        if (done) throw new Error('the stream completed');
        for (const change of value) {
          if (change.type !== 'progress') waiting.push(`${change.type} ${change.entry.key} ${change.entry.revision}`);
        }
      }
      return waiting.splice(0, count);
    },
    async progress(upTo: Revision): Promise<void> {
      while (true) {
        const { done, value } = await batches.next();
        if (done) throw new Error('the stream completed');
        if (value.some((change) => change.type === 'progress' && change.revision >= upTo)) return;
      }
    },
    stop: () => batches.return?.(),
  };
}

const create = async (store: Store, key: string): Promise<Revision> =>
  (await store.commit({ key, document: document(key), expect: 'absent' })).revision;

describe.skipIf(!etcdInstalled)('the etcd store fulfils the store contract', () => {
  for (const { name, run } of storeContract(() => open({ replay: 0 }))) test(name, run, 30_000);
});

describe.skipIf(!etcdInstalled)('an etcd store that begins after another one fulfils it, too', () => {
  for (const { name, run } of storeContract(() => open({ replay: 0, after: 7_000_000_000n }))) test(name, run, 30_000);

  test('all its servers know where it begins, and older revisions are compacted', async () => {
    const prefix = `/test-${made++}`;
    const one = await open({ prefix, after: 7_000_000_000n });
    const created = await create(one, '/a');
    expect(created).toBeGreaterThan(7_000_000_000n);
    const two = await open({ prefix });
    expect((await two.get('/a'))?.revision).toBe(created);
    const write = { key: '/a', document: document('again'), expect: 7_000_000_000n };
    await expect(two.commit(write)).rejects.toThrow(WriteConflict);
    for (const at of [1n, 6_999_999_999n, 7_000_000_000n]) {
      await expect(two.scan('', { at })).rejects.toThrow(HistoryCompacted);
      await expect(reader(two, at).take(1)).rejects.toThrow(HistoryCompacted);
    }
    await Promise.all([one.close(), two.close()]);
  });

  test('older revisions are compacted even if the first server stopped before doing so', async () => {
    const prefix = `/test-${made++}`;
    let closed = 0;
    const wrapClient = (client: EtcdClient): EtcdClient => ({
      ...client,
      compact: () => Promise.reject(new Error('stopped here')),
      close: () => {
        closed++;
        client.close();
      },
    });
    await expect(open({ prefix, after: 7_000_000_000n, wrapClient })).rejects.toThrow('stopped here');
    expect(closed).toBe(1);
    const store = await open({ prefix, after: 8_000_000_000n });
    expect(await create(store, '/a')).toBeLessThan(8_000_000_000n);
    await expect(store.scan('', { at: 6_999_999_999n })).rejects.toThrow(HistoryCompacted);
    await expect(reader(store, 6_999_999_999n).take(1)).rejects.toThrow(HistoryCompacted);
    await store.close();
  });

  test('a start revision is ignored if the store already has entries', async () => {
    const prefix = `/test-${made++}`;
    const one = await open({ prefix });
    const created = await create(one, '/a');
    const two = await open({ prefix, after: 7_000_000_000n });
    expect((await two.get('/a'))?.revision).toBe(created);
    await Promise.all([one.close(), two.close()]);
  });
});

describe.skipIf(!etcdInstalled)('several servers over one etcd', () => {
  test("read each other's writes at once, and see them in one order in their streams", async () => {
    const prefix = `/test-${made++}`;
    const [one, two] = await Promise.all([open({ prefix }), open({ prefix })]);
    const after = await one.revision();
    const readers = [reader(one, after), reader(two, after)];
    const written = await Promise.all(
      Array.from({ length: 20 }, (_, index) => create(index % 2 === 0 ? one : two, `/k/${index}`)),
    );
    expect((await two.get('/k/0'))?.revision).toBe(written[0]);
    expect((await one.get('/k/1'))?.revision).toBe(written[1]);
    const [seen, alsoSeen] = await Promise.all(readers.map((each) => each.take(20)));
    expect(seen).toEqual(alsoSeen);
    expect(seen?.map((text) => BigInt(text.split(' ')[2] ?? ''))).toEqual(written.toSorted((a, b) => Number(a - b)));
    for (const each of readers) void each.stop();
    await Promise.all([one.close(), two.close()]);
  });

  test('have one winner in a race for a key', async () => {
    const prefix = `/test-${made++}`;
    const stores = await Promise.all([open({ prefix }), open({ prefix })]);
    const outcomes = await Promise.allSettled(stores.map((store) => create(store, '/one')));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({ reason: expect.any(WriteConflict) });
    await Promise.all(stores.map((store) => store.close()));
  });

  test('do not see stores with other prefixes, but report their revisions as progress', async () => {
    const [one, other] = await Promise.all([open({ progressMs: 50 }), open()]);
    const stream = reader(one, await one.revision());
    const revision = await create(other, '/elsewhere');
    expect(await one.get('/elsewhere')).toBeUndefined();
    expect(await one.revision()).toBeGreaterThanOrEqual(revision);
    await stream.progress(revision);
    const later = reader(one, await create(other, '/elsewhere/2'));
    await later.progress(revision + 1n);
    void stream.stop();
    void later.stop();
    await Promise.all([one.close(), other.close()]);
  });

  test('serve streams from before they were opened', async () => {
    const prefix = `/test-${made++}`;
    const first = await open({ prefix });
    const after = await first.revision();
    const written = [await create(first, '/a'), await create(first, '/b')];
    await first.close();
    const second = await open({ prefix });
    const stream = reader(second, after);
    expect(await stream.take(2)).toEqual([`put /a ${written[0]}`, `put /b ${written[1]}`]);
    void stream.stop();
    await second.close();
    const third = await open({ prefix, replay: 0 });
    await expect(reader(third, after).take(1)).rejects.toThrow(HistoryCompacted);
    await third.close();
  });

  test('compact together, to the revision of one interval ago', async () => {
    const prefix = `/test-${made++}`;
    const stores = await Promise.all([1, 2].map(() => open({ prefix, compactEveryMs: 150 })));
    const [store] = stores;
    const revision = await create(store as EtcdStore, '/a');
    await create(store as EtcdStore, '/b');
    const compacted = async (): Promise<boolean> =>
      (store as EtcdStore).scan('/', { at: revision }).then(
        () => false,
        (error) => error instanceof HistoryCompacted && error.oldest > revision,
      );
    await expect.poll(compacted, { timeout: 20_000 }).toBe(true);
    expect((await (store as EtcdStore).scan('/')).entries).toHaveLength(2);
    await Promise.all(stores.map((each) => each.close()));
  });

  test('log nothing when somebody else has compacted further', async () => {
    const told: string[] = [];
    let turns = 0;
    const store = await open({
      compactEveryMs: 50,
      log: { ...silentLogger, warn: (_, message) => told.push(message) },
      wrapClient: (client) => ({
        ...client,
        async compact(revision) {
          turns++;
          await client.compact(revision + 1n);
          await client.compact(revision);
        },
      }),
    });
    while (turns < 2) await create(store, `/${turns}-${Math.random()}`);
    await store.close();
    expect(told).toEqual([]);
  });
});

describe.skipIf(!etcdInstalled)('when etcd is killed and comes back', () => {
  test('streams resume where they were, and acknowledged writes are there', async () => {
    const store = await open({ timeoutMs: 2_000 });
    const stream = reader(store, await store.revision());
    const before = await create(store, '/before');
    expect(await stream.take(1)).toEqual([`put /before ${before}`]);
    await etcd.kill();
    await expect(store.get('/before')).rejects.toThrow(StoreUnavailable);
    await expect(create(store, '/meanwhile')).rejects.toThrow(StoreUnavailable);
    await etcd.start();
    const again = async (): Promise<Revision> => create(store, '/after').catch(again);
    const after = await again();
    expect(await stream.take(1)).toEqual([`put /after ${after}`]);
    expect((await store.get('/before'))?.revision).toBe(before);
    void stream.stop();
    await store.close();
  });

  test('requests wait for it', async () => {
    let ended = 0;
    const store = await open({ log: { ...silentLogger, warn: () => void ended++ } });
    const { revision } = await store.commit({ key: '/a', document: document('old'), expect: 'absent' });
    await etcd.kill();
    // By then a request that does not wait would fail.
    await vi.waitUntil(() => ended >= 3, { timeout: 5_000 });
    const asked = Promise.allSettled([
      store.get('/a').then((entry) => entry?.key),
      store.scan('/a').then(({ entries }) => entries.length),
      create(store, '/b').then(() => 'created'),
      store.commit({ key: '/a', document: document('new'), expect: revision }).then(({ value }) => value),
    ]);
    await etcd.start();
    expect(await asked).toEqual(['/a', 1, 'created', 'new'].map((value) => ({ status: 'fulfilled', value })));
    await store.close();
  });
});

test.skipIf(!etcdInstalled)(
  'after etcd is restored from a backup, the store closes, and a newly opened one works on that state',
  async () => {
    const own = await startEtcd();
    await own.kill();
    const putBack = own.backUp();
    await own.start();
    const store = await openEtcdStore({ endpoints: [own.endpoint] });
    const stream = reader(store, await store.revision());
    const forgotten = await create(store, '/forgotten');
    expect(await stream.take(1)).toEqual([`put /forgotten ${forgotten}`]);
    await own.kill();
    putBack();
    await own.start();
    await expect(stream.take(1)).rejects.toThrow(StoreClosed);
    await expect(store.get('/forgotten')).rejects.toThrow(/^etcd is at revision \d+ and was at \d+: /);
    await store.close();
    const later = await openEtcdStore({ endpoints: [own.endpoint] });
    const streamLater = reader(later, await later.revision());
    const revision = await create(later, '/later');
    expect(await streamLater.take(1)).toEqual([`put /later ${revision}`]);
    void streamLater.stop();
    await later.close();
    await own.stop();
  },
);

describe.skipIf(!etcdInstalled)('when the watch misses events', () => {
  const nothing = {
    created: false,
    canceled: false,
    compactRevision: 0n,
    cancelReason: '',
    events: [],
    fragment: false,
  };

  test('a compaction meanwhile fails streams, and later ones work', async () => {
    let deaf = false;
    let tell: (response: WatchResponse) => void = () => {};
    const told: unknown[] = [];
    const store = await open({
      log: { ...silentLogger, warn: (fields) => told.push(fields) },
      wrapClient: (client) => ({
        ...client,
        watch(request, handlers) {
          tell = handlers.response;
          return client.watch(request, { ...handlers, response: (response) => deaf || handlers.response(response) });
        },
      }),
    });
    const stream = reader(store, await store.revision());
    deaf = true;
    const missed = await create(store, '/missed');
    tell({ ...nothing, canceled: true, compactRevision: missed });
    deaf = false;
    const failure: unknown = await stream.take(1).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(HistoryCompacted);
    expect(failure).toMatchObject({ oldest: missed });
    expect(told).toMatchObject([{ err: `etcd has compacted what came before revision ${missed}` }]);
    const later = reader(store, missed);
    const seen = await create(store, '/seen');
    expect(await later.take(1)).toEqual([`put /seen ${seen}`]);
    void later.stop();
    await store.close();
  });

  test.each(['in its place', 'over it'])(
    'a value that another program wrote %s fails streams, and reads report it',
    async (where) => {
      const prefix = `/test-${made++}`;
      const complaints: unknown[] = [];
      const log = {
        ...silentLogger,
        error: (fields: object, message: string) => void complaints.push([message, fields]),
      };
      const store = await open({ prefix, log });
      if (where === 'over it') await create(store, '/foreign');
      const stream = reader(store, await store.revision());
      const client = createEtcdClient({ endpoints: [etcd.endpoint] });
      const key = `${prefix}/entries/foreign`;
      const write = (success: Operation) =>
        client.txn({
          compare: [{ key, target: 'version', equals: -1n }],
          success: { range: { key } },
          failure: [success],
        });
      const { revision: put } = await write({ put: { key, value: Buffer.from('{}') } });
      await expect(stream.take(1)).rejects.toMatchObject({ oldest: put });
      await expect(store.get('/foreign')).rejects.toThrow('the value in etcd of /foreign');
      await expect(store.scan('/')).rejects.toThrow('the value in etcd of /foreign');
      const { entries } = await store.scan('/', { tolerant: true });
      expect(entries.map(({ key: found }) => found)).toEqual(['/foreign']);
      expect(() => entries[0]?.value).toThrow('the value in etcd of /foreign');
      const later = reader(store, put);
      const { revision: removed } = await write({ delete: { key } });
      await expect(later.take(1)).rejects.toMatchObject({ oldest: removed });
      const complaint = ['a change in etcd cannot be decoded and is not delivered', expect.objectContaining({ key })];
      expect(complaints).toEqual([complaint, complaint]);
      const last = reader(store, removed);
      const next = await create(store, '/own');
      expect(await last.take(1)).toEqual([`put /own ${next}`]);
      client.close();
      void last.stop();
      await store.close();
    },
  );

  test('a deletion of several keys in one revision by another program fails streams, and later ones work', async () => {
    const prefix = `/test-${made++}`;
    const store = await open({ prefix });
    for (const key of ['/x/a', '/x/b', '/y']) await create(store, key);
    const stream = reader(store, await store.revision());
    const text = (value: string): string => Buffer.from(`${prefix}/entries${value}`).toString('base64');
    await fetch(`http://${etcd.endpoint}/v3/kv/deleterange`, {
      method: 'POST',
      body: JSON.stringify({ key: text('/x/'), range_end: text('/x0') }),
    });
    await expect(stream.take(1)).rejects.toBeInstanceOf(HistoryCompacted);
    expect((await store.scan('/')).entries.map(({ key }) => key)).toEqual(['/y']);
    const later = reader(store, await store.revision());
    const next = await create(store, '/x/a');
    expect(await later.take(1)).toEqual([`put /x/a ${next}`]);
    void later.stop();
    await store.close();
  });

  test('a revision that is split over several responses is handled once it is complete', async () => {
    let tell: (response: WatchResponse) => void = () => {};
    let deaf = false;
    const store = await open({
      wrapClient: (client) => ({
        ...client,
        watch(request, handlers) {
          tell = handlers.response;
          return client.watch(request, {
            ...handlers,
            response: (response) => {
              if (deaf) heard.push(...response.events);
              else handlers.response(response);
            },
          });
        },
      }),
    });
    const heard: WatchEvent[] = [];
    const stream = reader(store, await store.revision());
    deaf = true;
    const revision = await create(store, '/a');
    await expect.poll(() => heard.length).toBe(1);
    const [event] = heard;
    if (event === undefined) throw new Error('nothing was heard');
    const second = { ...event, kv: { ...event.kv, key: event.kv.key.replace(/a$/, 'b') } };
    tell({ ...nothing, events: [event], fragment: true });
    tell({ ...nothing, events: [second] });
    await expect(stream.take(1)).rejects.toMatchObject({ oldest: revision });
    await store.close();
  });
});

describe.skipIf(!etcdInstalled)('when the answer to a write is lost', () => {
  /**
   * Opens a store whose next transaction gets no response, whether or not it is executed; `meanwhile` runs before the
   * next attempt.
   */
  const openLosing = async () => {
    const plan = { happens: true, losing: 0, meanwhile: async (): Promise<unknown> => undefined };
    const store = await open({
      wrapClient: (client) => ({
        ...client,
        async txn(request) {
          if (plan.losing === 0) return client.txn(request);
          plan.losing--;
          if (plan.happens) await client.txn(request);
          await plan.meanwhile();
          throw new StoreUnavailable('the connection broke');
        },
      }),
    });
    return { store, plan };
  };

  test('a write that happened is acknowledged once', async () => {
    const { store, plan } = await openLosing();
    plan.losing = 1;
    const stream = reader(store, await store.revision());
    const { revision } = await store.commit({ key: '/a', document: document(1), expect: 'absent' });
    const next = await create(store, '/b');
    expect(await stream.take(2)).toEqual([`put /a ${revision}`, `put /b ${next}`]);
    expect((await store.get('/a'))?.revision).toBe(revision);
    void stream.stop();
    await store.close();
  });

  test('a write that did not happen is repeated', async () => {
    const { store, plan } = await openLosing();
    Object.assign(plan, { happens: false, losing: 2 });
    const { revision } = await store.commit({ key: '/a', document: document(1), expect: 'absent' });
    expect((await store.get('/a'))?.revision).toBe(revision);
    await store.close();
  });

  test('an entry that was created and deleted meanwhile is not created again', async () => {
    const { store, plan } = await openLosing();
    const remove = async (): Promise<unknown> => {
      const now = await store.get('/a');
      return store.commit({ key: '/a', document: undefined, expect: now?.revision ?? 0n });
    };
    Object.assign(plan, { losing: 1, meanwhile: remove });
    await expect(create(store, '/a')).rejects.toThrow(StoreUnavailable);
    expect(await store.get('/a')).toBeUndefined();
    await store.close();
  });

  test('a delayed attempt does not create an entry again after its deletion', async () => {
    let stuck: (() => Promise<TxnResponse>) | undefined;
    let sticks = false;
    const store = await open({
      wrapClient: (client) => ({
        ...client,
        txn(request) {
          if (!sticks) return client.txn(request);
          sticks = false;
          stuck = () => client.txn(request);
          return Promise.reject(new StoreUnavailable('not within the deadline'));
        },
      }),
    });
    sticks = true;
    const revision = await create(store, '/a');
    await store.commit({ key: '/a', document: undefined, expect: revision });
    expect(await stuck?.()).toMatchObject({ succeeded: false });
    expect(await store.get('/a')).toBeUndefined();
    await store.close();
  });

  test('an undecidable outcome fails as unavailable', async () => {
    const { store, plan } = await openLosing();
    const { revision } = await store.commit({ key: '/a', document: document(1), expect: 'absent' });
    plan.losing = 1;
    await expect(store.commit({ key: '/a', document: undefined, expect: revision })).rejects.toThrow(StoreUnavailable);
    const next = await create(store, '/b');
    const overwrite = async (): Promise<unknown> => {
      const now = await store.get('/b');
      return store.commit({ key: '/b', document: document('other'), expect: now?.revision ?? 0n });
    };
    Object.assign(plan, { losing: 1, meanwhile: overwrite });
    await expect(store.commit({ key: '/b', document: document(2), expect: next })).rejects.toThrow(StoreUnavailable);
    expect((await store.get('/b'))?.value).toBe('other');
    await store.close();
  });
});

test.skipIf(!etcdInstalled).each([
  ['overwritten', document('b')],
  ['deleted', undefined],
])(
  'when etcd no longer has the previous value of an entry that was %s, watches list again and go on',
  async (_, next) => {
    let forgets = false;
    const store = await open({
      wrapClient: (client) => ({
        ...client,
        watch: (request, handlers) =>
          client.watch(request, {
            ...handlers,
            response: ({ events, ...response }) =>
              handlers.response({
                ...response,
                events: events.map((event) => (forgets ? { ...event, previous: undefined } : event)),
              }),
          }),
      }),
    });
    const revision = await create(store, '/a');
    const all = [reader(store, revision), reader(store, revision)];
    await Promise.all(all.map((one) => one.progress(revision)));
    forgets = true;
    await store.commit({ key: '/a', document: next, expect: revision });
    for (const one of all) await expect(one.take(1)).rejects.toThrow(HistoryCompacted);
    forgets = false;
    const again = reader(store, await store.revision());
    const made = await create(store, '/b');
    expect(await again.take(1)).toEqual([`put /b ${made}`]);
    await again.stop();
    await store.close();
  },
);

test('a watch requires a member that has a leader', async () => {
  let headers: IncomingHttpHeaders = {};
  const member = createServer().on('stream', (stream, received) => {
    headers = received;
    stream.respond({ 'content-type': 'application/grpc', 'grpc-status': '14' }, { endStream: true });
  });
  await new Promise<void>((resolve) => member.listen(0, '127.0.0.1', resolve));
  const client = createEtcdClient({ endpoints: [`127.0.0.1:${(member.address() as AddressInfo).port}`] });
  const request = { key: '/a', rangeEnd: Buffer.from('/b'), startRevision: 1n };
  const error = await new Promise((ended) => client.watch(request, { response: () => {}, ended }));
  expect(error).toBeInstanceOf(StoreUnavailable);
  expect(headers['hasleader']).toBe('true');
  client.close();
  member.close();
});

test('an unreachable etcd is retried soon, however often it failed', async () => {
  let attempts = 0;
  const member = createTcpServer((socket) => {
    attempts++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => member.listen(0, '127.0.0.1', resolve));
  const client = createEtcdClient({ endpoints: [`127.0.0.1:${(member.address() as AddressInfo).port}`] });
  await expect(client.range({ key: '/a' })).rejects.toThrow(StoreUnavailable);
  // gRPC's default would take nine seconds for this many attempts.
  await vi.waitUntil(() => attempts >= 5, { timeout: 5_000 });
  client.close();
  member.close();
}, 15_000);

describe('a member that accepts a connection and says nothing', () => {
  /** A member that refuses its first connections, and then says nothing. */
  const silentMember = async (refused: number) => {
    const sockets: Socket[] = [];
    const member = createTcpServer((socket) => {
      sockets.push(socket.on('error', () => {}));
      if (sockets.length <= refused) socket.destroy();
    });
    await new Promise<void>((resolve) => member.listen(0, '127.0.0.1', resolve));
    const client = createEtcdClient({
      endpoints: [`127.0.0.1:${(member.address() as AddressInfo).port}`],
      timeoutMs: 200,
    });
    return {
      client,
      sockets,
      close: () => {
        client.close();
        for (const socket of sockets) socket.destroy();
        member.close();
      },
    };
  };

  test.each([0, 2])('is connected to again, also after %d refused connections', async (refused) => {
    const { client, sockets, close } = await silentMember(refused);
    const asked = async (): Promise<boolean> => {
      await expect(client.range({ key: '/a' })).rejects.toThrow(StoreUnavailable);
      return sockets.length >= refused + 3;
    };
    await vi.waitUntil(asked, { timeout: 4_000 });
    close();
  });

  test('does not keep a watch waiting', async () => {
    const { client, close } = await silentMember(0);
    const request = { key: '/a', rangeEnd: Buffer.from('/b'), startRevision: 1n };
    const error = await new Promise((ended) => client.watch(request, { response: () => {}, ended }));
    expect(error).toEqual(new StoreUnavailable('etcd did not begin a watch in time'));
    close();
  });
});

test('a missing etcd is refused with one sentence', async () => {
  const opening = openEtcdStore({ endpoints: ['127.0.0.1:1'], timeoutMs: 1_000 });
  await expect(opening).rejects.toThrow(StoreUnavailable);
  await expect(opening).rejects.toThrow(
    /^etcd at 127\.0\.0\.1:1 does not answer \(it was asked without TLS\): .*ECONNREFUSED 127\.0\.0\.1:1$/,
  );
});

test.skipIf(!etcdInstalled)('an etcd that requires authentication is reported as such', async () => {
  const guarded = await startEtcd();
  await guarded.authenticate({});
  await expect(openEtcdStore({ endpoints: [guarded.endpoint] })).rejects.toThrow(
    `etcd at ${guarded.endpoint} requires a user (etcd.user): etcdserver: user name is empty`,
  );
  await guarded.stop();
});

test.skipIf(!etcdInstalled)('another member is asked when the first does not answer', async () => {
  const client = createEtcdClient({ endpoints: ['127.0.0.1:1', etcd.endpoint], timeoutMs: 2_000 });
  expect((await client.range({ key: '/none' })).count).toBe(0);
  client.close();
});

test.skipIf(!etcdInstalled).each([
  [1_600_000, /^etcdserver: request is too large$/],
  [2_200_000, /^grpc: received message larger than max /],
])('a write of %d bytes is refused with the words of etcd, and not as an internal fault', async (size, message) => {
  const store = await open();
  const writing = store.commit({ key: '/large', document: document('x'.repeat(size)), expect: 'absent' });
  await expect(writing).rejects.toMatchObject({ name: 'Error', message: expect.stringMatching(message) });
  await store.close();
});

test.skipIf(!etcdInstalled)(
  "one heartbeat is written for all who wait for others' writes, none if there are none",
  async () => {
    let beats = 0;
    let looks = 0;
    const counting = (client: EtcdClient): EtcdClient => ({
      ...client,
      range: async (request) => {
        const answer = await client.range(request);
        looks++;
        return answer;
      },
      txn: (request) => {
        beats++;
        return client.txn(request);
      },
    });
    const store = await open({ wrapClient: counting });
    await store.caughtUp();
    beats = 0;
    const now = await store.revision();
    looks = 0;
    const early = Array.from({ length: 20 }, (_, at) => reader(store, now + BigInt(at + 1)));
    await expect.poll(() => looks).toBe(1);
    await settled();
    expect(beats).toBe(0);
    const client = createEtcdClient({ endpoints: [etcd.endpoint] });
    const put = { put: { key: `/others-${made++}`, value: Buffer.alloc(0) } };
    for (let at = 0; at < 20; at++)
      await client.txn({
        compare: [{ key: put.put.key, target: 'version', equals: -1n }],
        success: put,
        failure: [put],
      });
    client.close();
    const late = Array.from({ length: 20 }, (_, at) => reader(store, now + BigInt(at + 1)));
    await late[0]?.progress(now + 1n);
    expect(beats).toBe(1);
    for (const each of [...early, ...late]) void each.stop();
    await store.close();
  },
);

test.skipIf(!etcdInstalled)(
  'an entry that is created while another server writes a heartbeat is created once',
  async () => {
    const prefix = `/test-${made++}`;
    const [store, other] = [await open({ prefix }), await open({ prefix })];
    const stream = reader(other, await other.revision());
    const made1 = await create(store, '/a');
    await other.caughtUp();
    const made2 = await create(store, '/b');
    expect(await stream.take(2)).toEqual([`put /a ${made1}`, `put /b ${made2}`]);
    await other.caughtUp();
    await expect(create(store, '/b')).rejects.toThrow(WriteConflict);
    void stream.stop();
    await store.close();
    await other.close();
  },
);

test.skipIf(!etcdInstalled)('a store whose etcd has no space left is opened and read', async () => {
  const prefix = '/no-room';
  const before = await open({ prefix });
  const { revision } = await before.commit({ key: '/a', document: document('kept'), expect: 'absent' });
  await before.close();
  const store = await open({
    prefix,
    wrapClient: (client) => ({
      ...client,
      txn: () => Promise.reject(new Error('etcdserver: mvcc: database space exceeded')),
    }),
  });
  expect((await store.get('/a'))?.revision).toBe(revision);
  const stream = reader(store, revision - 1n);
  await stream.progress(revision);
  void stream.stop();
  await store.close();
});
