import { internalError } from '../../api/errors.js';
import { messageOf } from '../../api/message-of.js';
import { resourcePrefix } from '../resource-prefix.js';
import type { Entry } from '../store.js';

/** The encryption of documents wherever they leave this process. All other code sees them unencrypted. */
export interface Encryption {
  /**
   * Identifies the provider and key that encrypt a document written under this key now; '' if it is stored unencrypted.
   */
  writesAs(key: string): string;
  /** Returns the stored form of a document. */
  encrypt(key: string, document: Buffer): Buffer;
  /**
   * Returns the document, and what identifies the key it was encrypted with.
   * @throws Error that says why it cannot be read
   */
  decrypt(key: string, stored: Buffer): Decrypted;
  /**
   * Fetches the data keys needed to decrypt all of these; returns undefined if none has to be fetched. Never rejects:
   * if a key could not be fetched, `decrypt` fails. Absent if no provider fetches keys.
   */
  prepare?(all: readonly KeptDocument[]): Promise<void> | undefined;
}

/** The stored form of the document under a key. */
export interface KeptDocument {
  readonly key: string;
  readonly kept: Buffer;
}

/** A document, and what identifies the key it was stored with. */
export interface Decrypted {
  readonly document: Buffer;
  /** The provider's prefix, followed by a key id if the provider's keys change. */
  readonly keptAs: string;
}

/**
 * The prefix of everything encrypted; no plain document begins with it. The same as in Kubernetes, so that it can be
 * searched for.
 */
export const encryptedPrefix = 'k8s:enc:';
const prefixBytes = Buffer.from(encryptedPrefix);

export const isEncrypted = (stored: Buffer): boolean => stored.subarray(0, prefixBytes.length).equals(prefixBytes);

/** Whether a write now would encrypt the entry with another provider or key. */
export const needsRewrite = (encryption: Encryption, { key, keptAs = '' }: Pick<Entry, 'key' | 'keptAs'>): boolean =>
  keptAs !== encryption.writesAs(key);

/**
 * Decrypts a document from its stored form.
 * @throws ApiError (500) that names the key of the document, and the reason
 */
export function decryptDocument(encryption: Encryption, key: string, stored: Buffer): Decrypted {
  try {
    return encryption.decrypt(key, stored);
  } catch (error) {
    throw internalError(`unable to transform key ${JSON.stringify(key)}: ${messageOf(error)}`, error);
  }
}

export type TransformationType = 'from_storage' | 'to_storage';

/** Counts encryptions and decryptions of the resources that a configuration names. */
export interface EncryptionMetrics {
  /** Called when a transformation begins; `key` is the store's. Returns a function to be called with the outcome. */
  begin(type: TransformationType, key: string): TransformationEnded;
}

/**
 * `prefix` is that of the provider, or undefined if no provider can read the stored form. Not called while that is not
 * known.
 */
export type TransformationEnded = (prefix: string | undefined, isGood: boolean) => void;

/** An encryption algorithm with one key. */
export interface Cipher {
  /** `key` is the document's key in the store. */
  encrypt(key: string, document: Buffer): Buffer;
  /** @throws Error if `encrypt` did not produce this for the key */
  decrypt(key: string, encrypted: Buffer): Buffer;
}

/** A form in which documents are stored, as a provider of Kubernetes' encryption configuration. */
export interface Provider {
  /** The prefix of what it stores; '' for unencrypted documents. */
  readonly prefix: string;
  /** Returns what identifies its current key: the prefix, followed by a key id if the provider's keys change. */
  writesAs(): string;
  /** Returns the stored form after the prefix. */
  encrypt(key: string, document: Buffer): Buffer;
  /** @throws Error if `encrypt` did not produce this for the key; NotFetched if that is only known after `prepare` */
  decrypt(key: string, encrypted: Buffer): Decrypted;
  /** Fetches the data key needed to decrypt this; returns undefined if it need not be fetched. Never rejects. */
  prepare?(encrypted: Buffer): Promise<void> | undefined;
}

/** Thrown when the data key of a document has not been fetched yet. */
export class NotFetched extends Error {
  override readonly name = 'NotFetched';
}

/** Returns a provider whose key never changes. `keptAs` distinguishes it from others with the same prefix. */
export const keyProvider = (prefix: string, cipher: Cipher, keptAs = prefix): Provider => ({
  prefix,
  writesAs: () => keptAs,
  encrypt: (key, document) => cipher.encrypt(key, document),
  decrypt: (key, encrypted) => ({ document: cipher.decrypt(key, encrypted), keptAs }),
});

/** The provider that stores documents unencrypted. Rejects encrypted documents. */
export const identity: Provider = keyProvider('', {
  encrypt: (_, document) => document,
  decrypt(_, stored) {
    if (isEncrypted(stored)) throw new Error('identity transformer tried to read encrypted data');
    return stored;
  },
});

/**
 * Selects providers by resource. A resource is `<group>/<plural>` as in the store's keys; a star may replace the
 * plural, or both parts. The most specific match counts; resources without a match are stored unencrypted. The first
 * provider of a list encrypts, all of them can decrypt.
 */
export class ResourceEncryption implements Encryption {
  readonly prepare?: (all: readonly KeptDocument[]) => Promise<void> | undefined;
  readonly #providers: ReadonlyMap<string, readonly [Provider, ...Provider[]]>;
  readonly #metrics: EncryptionMetrics | undefined;

  constructor(
    providers: ReadonlyMap<string, readonly [Provider, ...Provider[]]> = new Map(),
    metrics?: EncryptionMetrics,
  ) {
    this.#providers = providers;
    this.#metrics = metrics;
    const fetches = [...providers.values()].some((all) => all.some(({ prepare }) => prepare !== undefined));
    if (fetches) this.prepare = (documents) => this.#prepare(documents);
  }

  writesAs(key: string): string {
    return this.#of(key)[0].writesAs();
  }

  encrypt(key: string, document: Buffer): Buffer {
    const [provider] = this.#of(key);
    const { prefix } = provider;
    const ended = this.#begin('to_storage', key);
    let encrypted: Buffer | undefined;
    try {
      encrypted = provider.encrypt(key, document);
    } finally {
      ended?.(prefix, encrypted !== undefined);
    }
    return prefix === '' ? encrypted : Buffer.concat([Buffer.from(prefix), encrypted]);
  }

  decrypt(key: string, stored: Buffer): Decrypted {
    const ended = this.#begin('from_storage', key);
    let failed: { readonly prefix: string; readonly error: unknown } | undefined;
    for (const { provider, encrypted } of this.#readers(key, stored)) {
      const { prefix } = provider;
      try {
        const read = provider.decrypt(key, encrypted);
        ended?.(prefix, true);
        return read;
      } catch (error) {
        // `identity` fails for every encrypted document. That failure is reported only for resources that are not to be
        // encrypted.
        if (provider !== identity || this.#of(key) === plain) failed ??= { prefix, error };
      }
    }
    if (!(failed?.error instanceof NotFetched)) ended?.(failed?.prefix, false);
    throw failed === undefined ? new Error('no matching prefix found') : failed.error;
  }

  /**
   * Starts the measurement of a transformation; returns undefined for resources without a rule, which are not counted.
   */
  #begin(type: TransformationType, key: string): TransformationEnded | undefined {
    return this.#metrics === undefined || this.#of(key) === plain ? undefined : this.#metrics.begin(type, key);
  }

  #prepare(all: readonly KeptDocument[]): Promise<void> | undefined {
    const fetched = all.flatMap(({ key, kept }) =>
      [...this.#readers(key, kept)].flatMap(({ provider, encrypted }) => provider.prepare?.(encrypted) ?? []),
    );
    return fetched.length === 0 ? undefined : Promise.all(fetched).then(() => {});
  }

  /** Yields the providers whose prefix the stored form has, with the part after the prefix. */
  *#readers(key: string, stored: Buffer): Generator<{ readonly provider: Provider; readonly encrypted: Buffer }> {
    for (const provider of this.#of(key)) {
      const { prefix } = provider;
      const start = Buffer.byteLength(prefix);
      if (start === 0 || stored.toString('utf8', 0, start) === prefix)
        yield { provider, encrypted: stored.subarray(start) };
    }
  }

  #of(key: string): readonly [Provider, ...Provider[]] {
    const { size } = this.#providers;
    if (size === 0) return plain;
    const home = resourcePrefix(key);
    return (
      this.#providers.get(home) ??
      this.#providers.get(`${home.slice(0, Math.max(home.indexOf('/'), 0))}/*`) ??
      this.#providers.get('*/*') ??
      plain
    );
  }
}

const plain = [identity] as const;

/**
 * An encryption that follows a configuration: each call uses the current one. If the configuration is replaced while
 * data keys are fetched, they are fetched again for the new one.
 */
export function latest(current: () => Encryption): Encryption {
  const prepare = (all: readonly KeptDocument[]): Promise<void> | undefined => {
    const used = current();
    return used.prepare?.(all)?.then(() => (used === current() ? undefined : prepare(all)));
  };
  return {
    writesAs: (key) => current().writesAs(key),
    encrypt: (key, document) => current().encrypt(key, document),
    decrypt: (key, stored) => current().decrypt(key, stored),
    prepare,
  };
}
