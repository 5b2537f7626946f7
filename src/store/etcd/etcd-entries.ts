import { UnreadEntry, unpooled } from '../document.js';
import type { Encryption } from '../encryption/encryption.js';
import type { Entry, Revision } from '../store.js';
import { EntryCache } from './entry-cache.js';
import { endOfRange, type KeyValue } from './messages.js';
import { decodeEntry, documentIn } from './stored-value.js';

const cacheBytes = 64 * 1_048_576;

/**
 * Maps the store's entries to keys and values in etcd. Below the prefix (`space`), entries are in `entries`, and values
 * that the servers agree on in `meta/`.
 */
export class EtcdEntries {
  readonly #space: string;
  readonly #encryption: Encryption;
  readonly #cache = new EntryCache(cacheBytes);

  constructor(space: string, encryption: Encryption) {
    this.#space = space;
    this.#encryption = encryption;
  }

  /** The etcd range of everything in this store, entries and metadata. */
  get fullRange(): { readonly key: string; readonly rangeEnd: Uint8Array } {
    const key = `${this.#space}/`;
    return { key, rangeEnd: endOfRange(key) };
  }

  /** Fetches the data keys needed to decrypt these. */
  prepare(kvs: readonly (KeyValue | undefined)[]): Promise<void> | undefined {
    if (this.#encryption.prepare === undefined) return undefined;
    const space = this.etcdKey('');
    const own = kvs.flatMap((kv) =>
      kv?.key.startsWith(space) ? [{ key: kv.key.slice(space.length), kept: documentIn(kv.value) }] : [],
    );
    return this.#encryption.prepare(own);
  }

  /** Returns an entry that was just written, so that it need not be read. */
  written(key: string, revision: Revision, make: () => Entry): Entry {
    return this.#cache.entry(key, revision, make);
  }

  /** Returns the entry of an etcd key. Throws if it cannot be read. */
  entry({ key: fullKey, modRevision, value }: KeyValue): Entry {
    const key = fullKey.slice(this.etcdKey('').length);
    return this.#cache.entry(key, modRevision, () => decodeEntry({ key, modRevision, value }, this.#encryption));
  }

  /** Like `entry`, but if it cannot be read, calls `onUnread` with the error and returns an entry whose value fails with it. */
  anyEntry(kv: KeyValue, onUnread?: (error: unknown) => void): Entry {
    try {
      return this.entry(kv);
    } catch (error) {
      onUnread?.(error);
      const { key, modRevision: revision, value } = kv;
      const fields = { key: key.slice(this.etcdKey('').length), revision, revisionAt: -1, kept: unpooled(value) };
      return new UnreadEntry(fields, () => {
        throw error;
      });
    }
  }

  /** Returns the etcd key of a key of the store. */
  etcdKey(key: string): string {
    return `${this.#space}/entries${key}`;
  }

  /** Returns the etcd key of a value that the servers agree on. */
  metaKey(name: string): string {
    return `${this.#space}/meta/${name}`;
  }
}
