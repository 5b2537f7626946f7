import type { Revision } from '../store.js';
import { compactTo } from './compaction.js';
import type { EtcdClient } from './etcd-client.js';
import { RevisionOutOfRange } from './etcd-failures.js';
import { type Compare, endOfRange, type KeyValue, type WatchEvent, type WatchResponse } from './messages.js';

/** Returns the key of the offset between the store's revisions and etcd's own; no value means no offset. */
const offsetKey = (space: string): string => `${space}/meta/offset`;

/**
 * Wraps the client so that the store's revisions continue after those of the store it took over from. Clients remember
 * revisions; if one came again, they would take an old object for the current one. The first revision of an etcd cannot
 * be chosen, so an agreed offset is added to each.
 *
 * @returns the client, with all revisions in requests and responses shifted by the offset
 * @param after the revision after which revisions begin, if nothing is under the prefix yet
 */
export async function withOffset(client: EtcdClient, space: string, after: Revision): Promise<EtcdClient> {
  const known = await readOffset(client, space);
  const offset = known ?? (after > 0n ? await agreeOnOffset(client, space, after) : undefined);
  if (offset === undefined) return client;
  // A client that continues from an earlier revision must list again rather than see no changes. The server that set the
  // offset may not have got this far.
  if (after > 0n) await compactTo(client, offset.since);
  return offsetClient(client, offset.by);
}

interface Offset {
  readonly by: Revision;
  /** etcd's own revision at which the offset was agreed on. */
  readonly since: Revision;
}

async function readOffset(client: EtcdClient, space: string): Promise<Offset | undefined> {
  const [found] = (await client.range({ key: offsetKey(space) })).kvs;
  if (found === undefined) return undefined;
  const text = found.value.toString('latin1');
  if (!/^[1-9]\d{0,17}$/.test(text)) throw new Error(`the value in etcd of ${offsetKey(space)} is not a revision`);
  return { by: BigInt(text), since: found.modRevision };
}

async function agreeOnOffset(client: EtcdClient, space: string, after: Revision): Promise<Offset | undefined> {
  const { count } = await client.range({ key: `${space}/`, rangeEnd: endOfRange(`${space}/`), limit: 1 });
  if (count > 0) return undefined;
  const key = offsetKey(space);
  const { succeeded, revision } = await client.txn({
    compare: [{ key, target: 'version', equals: 0n }],
    success: { put: { key, value: Buffer.from(String(after)) } },
    failure: [],
  });
  return succeeded ? { by: after, since: revision } : readOffset(client, space);
}

/** Returns a client whose revisions are `by` higher than etcd's. */
function offsetClient(client: EtcdClient, by: Revision): EtcdClient {
  const up = (revision: Revision): Revision => revision + by;
  // Earlier revisions are compacted, and etcd reports that for its first one.
  const down = (revision: Revision): Revision => (revision > by ? revision - by : 1n);
  const upKey = <T extends KeyValue | undefined>(kv: T): T =>
    kv && { ...kv, createRevision: up(kv.createRevision), modRevision: up(kv.modRevision) };
  const upEvent = (event: WatchEvent): WatchEvent => ({
    ...event,
    kv: upKey(event.kv),
    previous: upKey(event.previous),
  });
  const upResponse = (response: WatchResponse): WatchResponse => ({
    ...response,
    compactRevision: response.compactRevision === 0n ? 0n : up(response.compactRevision),
    events: response.events.map(upEvent),
  });
  const downCompare = (compare: Compare): Compare => {
    if (compare.target !== 'modRevision' || compare.equals <= 0n) return compare;
    // Not 0, which stands for an absent key.
    return { ...compare, equals: compare.equals > by ? compare.equals - by : -1n };
  };
  return {
    ...client,
    async range(request) {
      const { revision } = request;
      const answer = await client.range(revision === undefined ? request : { ...request, revision: down(revision) });
      return { ...answer, revision: up(answer.revision), kvs: answer.kvs.map(upKey) };
    },
    async txn(request) {
      const answer = await client.txn({ ...request, compare: request.compare.map(downCompare) });
      return { ...answer, revision: up(answer.revision), found: answer.found.map(upKey) };
    },
    async compact(revision) {
      if (revision <= by) throw new RevisionOutOfRange('compacted');
      await client.compact(revision - by);
    },
    watch: (request, handlers) =>
      client.watch(
        { ...request, startRevision: down(request.startRevision) },
        { ...handlers, response: (response) => handlers.response(upResponse(response)) },
      ),
  };
}
