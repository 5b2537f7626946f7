import { messageOf } from '../api/message-of.js';
import { systemClock } from '../runtime/clock.js';
import { silentLogger } from '../runtime/logger.js';
import { CopyRefused, copyStore } from '../store/copy-store.js';
import { type OpenStoreOptions, openStore } from '../store/open.js';
import type { Store } from '../store/store.js';
import { ConfigurationError, readConfiguration } from './configuration.js';

/** `kedge store copy`: everything in one store to another, which goes on after the revisions of the first. */
export async function copy(from: string, to: string, flags: { readonly config?: string }): Promise<void> {
  for (const address of [from, to]) {
    if (address.startsWith('memory:')) throw new ConfigurationError(`${address} is gone when this program ends`);
  }
  const { etcd } = await readConfiguration(flags.config, {});
  const open = (address: string, options: Partial<OpenStoreOptions>): Promise<Store> =>
    openStore(address, {
      clock: systemClock,
      log: silentLogger,
      ...(address.startsWith('etcd:') ? { etcd: { ...etcd, compactionSeconds: 0 } } : {}),
      ...options,
    });
  await using(open(from, { mustExist: true }), async (source) => {
    const revision = await source.revision();
    await using(open(to, { after: revision + 1n }), async (target) => {
      const count = await copyStore(source, target, revision).catch((error: unknown) => {
        throw error instanceof CopyRefused ? new Error(`${from} was not copied to ${to}: ${messageOf(error)}`) : error;
      });
      process.stdout.write(`${count} entries were copied; revisions go on after ${revision}.\n`);
    });
  });
}

async function using(opening: Promise<Store>, use: (store: Store) => Promise<void>): Promise<void> {
  const store = await opening;
  try {
    await use(store);
  } finally {
    await store.close();
  }
}
