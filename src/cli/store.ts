import { defaultDomains } from '../api/domains.js';
import { messageOf } from '../api/message-of.js';
import { systemClock } from '../runtime/clock.js';
import { silentLogger } from '../runtime/logger.js';
import type { OpenedEncryption } from '../server/open-encryption.js';
import { CopyRefused, copyStore } from '../store/copy-store.js';
import { type OpenStoreOptions, openStore } from '../store/open.js';
import type { Store } from '../store/store.js';
import { ConfigurationError, readConfiguration } from './configuration.js';
import type { Configuration } from './configuration-options.js';

interface CopyFlags {
  readonly config?: string;
  readonly leaveUnreadable?: boolean;
}

/**
 * Implements `kedge store copy`: copies everything from one store to another, whose revisions continue after those of
 * the first.
 */
export async function copy(from: string, to: string, flags: CopyFlags): Promise<void> {
  for (const address of [from, to]) {
    if (address.startsWith('memory:')) throw new ConfigurationError(`${address} is lost when this program ends`);
  }
  const configuration = await readConfiguration(flags.config, {});
  const ended = new AbortController();
  try {
    const encryption = await encryptionIn(configuration, ended.signal);
    if (flags.leaveUnreadable === true) checkServices(encryption);
    const open = (address: string, options: Partial<OpenStoreOptions>): Promise<Store> =>
      openStore(address, {
        clock: systemClock,
        log: silentLogger,
        ...(encryption === undefined ? {} : { encryption }),
        ...(address.startsWith('etcd:') ? { etcd: { ...configuration.etcd, compactionSeconds: 0 } } : {}),
        ...options,
      });
    await withStore(open(from, { mustExist: true }), async (source) => {
      const revision = await source.revision();
      await withStore(open(to, { after: revision + 1n }), async (target) => {
        const copying = copyStore(source, target, revision, flags.leaveUnreadable === true ? tellLeft : undefined);
        const count = await copying.catch((error: unknown) => {
          throw error instanceof CopyRefused
            ? new Error(`${from} was not copied to ${to}: ${messageOf(error)}`)
            : error;
        });
        process.stdout.write(`${count} entries were copied; revisions continue after ${revision}.\n`);
      });
    });
  } finally {
    ended.abort();
  }
}

/** Throws if a key service is unavailable: otherwise everything that is encrypted by its keys would be left out. */
function checkServices(encryption: OpenedEncryption | undefined): void {
  const problem = encryption?.problem();
  if (problem !== undefined) throw new Error(`data whose key service does not work is not lost: ${problem}`);
}

const tellLeft = (key: string, cause: unknown): void =>
  void process.stderr.write(`left out ${key}: ${messageOf(cause)}\n`);

async function encryptionIn(
  { encryptionConfigFile: file, domains }: Configuration,
  signal: AbortSignal,
): Promise<OpenedEncryption | undefined> {
  if (file === undefined) return undefined;
  const { openEncryption } = await import('../server/open-encryption.js');
  const parts = { domains: { ...defaultDomains, ...domains }, clock: systemClock, log: silentLogger, signal };
  return openEncryption({ file, option: 'encryptionConfigFile' }, parts);
}

async function withStore(opening: Promise<Store>, use: (store: Store) => Promise<void>): Promise<void> {
  const store = await opening;
  try {
    await use(store);
  } finally {
    await store.close();
  }
}
