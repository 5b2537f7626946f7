import { systemClock } from '../../runtime/clock.js';
import { silentLogger } from '../../runtime/logger.js';
import { StoreUnavailable } from '../store-unavailable.js';
import { oldestKept } from './compaction.js';
import { createEtcdClient, type EtcdClient } from './etcd-client.js';
import { etcdDefaults } from './etcd-options.js';
import { followSecrets } from './etcd-secrets.js';
import { EtcdStore, type EtcdStoreOptions } from './etcd-store.js';
import { endOfRange } from './messages.js';
import { withOffset } from './revision-offset.js';

const defaultReplay = 10_000;

/**
 * Opens the store in an etcd, with the recent past in memory.
 * @throws StoreUnavailable if no member answers, or if `mustExist` is set and there is no store
 */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<EtcdStore> {
  const connected = await openClient(options);
  const space = options.prefix ?? etcdDefaults.prefix;
  let client = options.wrapClient?.(connected) ?? connected;
  try {
    if (options.mustExist === true && !(await holdsEntries(client, space)))
      throw new StoreUnavailable(`no store in etcd under ${space}`);
    client = await withOffset(client, space, options.after ?? 0n);
    const { revision } = await client.range({ key: `${space}/meta/heartbeat` });
    const requested = revision - BigInt(options.replay ?? defaultReplay);
    const oldest = await oldestKept(client, `${space}/meta/heartbeat`, requested);
    const start = { after: requested > oldest ? requested : oldest, now: revision };
    const store = new EtcdStore(client, start, options);
    await store.begin(revision).catch((error: unknown) => store.close().then(() => Promise.reject(error)));
    return store;
  } catch (error) {
    client.close();
    throw error;
  }
}

async function holdsEntries(client: EtcdClient, space: string): Promise<boolean> {
  const key = `${space}/entries`;
  const { count } = await client.range({ key, rangeEnd: endOfRange(key), limit: 1 });
  return count > 0;
}

/** Opens a client that follows the files with its secrets. */
async function openClient({ secrets = {}, ...options }: EtcdStoreOptions): Promise<EtcdClient> {
  const { clock = systemClock, log = silentLogger } = options;
  const client = createEtcdClient(options);
  const closing = new AbortController();
  const close = (): void => {
    closing.abort();
    client.close();
  };
  try {
    await followSecrets(secrets, (found) => client.use(found), { clock, log, signal: closing.signal });
  } catch (error) {
    close();
    throw error;
  }
  return { ...client, close };
}
