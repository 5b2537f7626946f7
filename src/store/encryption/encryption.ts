import { internalError } from '../../api/errors.js';
import { messageOf } from '../../api/message-of.js';
import { resourcePrefix } from '../resource-prefix.js';
import type { Entry } from '../store.js';

/** The encryption of documents wherever they leave this process. All other code sees them unencrypted. */
export interface Encryption {
  /**
   * Names the provider, and its key, that encrypts a document that is written under this key now; '' if it is kept as it is.
   */
  writesAs(key: string): string;
  /** Returns the stored form of a document. */
  encrypt(key: string, document: Buffer): Buffer;
  /**
   * The document, and by what it was encrypted.
   * @throws Error that says why it cannot be read
   */
  decrypt(key: string, kept: Buffer): Decrypted;
  /**
   * Fetches what it takes to decrypt all of these; undefined if that is at hand. Never rejects: what could not be fetched
   * fails when it is decrypted. Absent where nothing is ever fetched.
   */
  prepare?(all: readonly KeptDocument[]): Promise<void> | undefined;
}

/** The stored form of the document under a key. */
export interface KeptDocument {
  readonly key: string;
  readonly kept: Buffer;
}

/** A document, and by which key it was kept. */
export interface Decrypted {
  readonly document: Buffer;
  /** The prefix, and more where keys change behind it. */
  readonly keptAs: string;
}

/** The prefix of everything encrypted, and of no plain document; as in Kubernetes, so that people can search for it. */
export const encryptedPrefix = 'k8s:enc:';
const prefixBytes = Buffer.from(encryptedPrefix);

export const isEncrypted = (kept: Buffer): boolean => kept.subarray(0, prefixBytes.length).equals(prefixBytes);

/** Whether a write now would encrypt the entry by another provider or key. */
export const needsRewrite = (encryption: Encryption, { key, keptAs = '' }: Pick<Entry, 'key' | 'keptAs'>): boolean =>
  keptAs !== encryption.writesAs(key);

/**
 * Decrypts a document as it is stored.
 * @throws ApiError (500) that says which one cannot be read, and why
 */
export function decryptDocument(encryption: Encryption, key: string, kept: Buffer): Decrypted {
  try {
    return encryption.decrypt(key, kept);
  } catch (error) {
    throw internalError(`unable to transform key ${JSON.stringify(key)}: ${messageOf(error)}`, error);
  }
}

export type TransformationType = 'from_storage' | 'to_storage';

/** Counts what is encrypted and decrypted of the resources that a configuration names. */
export interface EncryptionMetrics {
  /** Called at the beginning; `key` is the store's. Returns a function to be called with the outcome. */
  begin(type: TransformationType, key: string): TransformationEnded;
}

/** `prefix`: of the provider; undefined: none reads what is kept. Not called where that is not known yet. */
export type TransformationEnded = (prefix: string | undefined, isGood: boolean) => void;

/** A way to encrypt, with one key. */
export interface Cipher {
  /** `key` is the store's, of the document. */
  encrypt(key: string, document: Buffer): Buffer;
  /** @throws Error if that is not what `encrypt` made for this key */
  decrypt(key: string, encrypted: Buffer): Buffer;
}

/** One way of keeping documents. */
export interface Provider {
  /** The prefix of what it stores; '' for unencrypted documents. */
  readonly prefix: string;
  /** Returns what identifies its current key: the prefix, and more if the keys of the provider change. */
  writesAs(): string;
  /** Returns the stored form after the prefix. */
  encrypt(key: string, document: Buffer): Buffer;
  /** @throws Error if that is not what `encrypt` made for this key, NotFetched if that cannot be said before `prepare` */
  decrypt(key: string, encrypted: Buffer): Decrypted;
  /** Fetches what it takes to decrypt this; undefined if that is at hand. Never rejects. */
  prepare?(encrypted: Buffer): Promise<void> | undefined;
}

/** Thrown when the data key of a document has not been fetched yet. */
export class NotFetched extends Error {
  override readonly name = 'NotFetched';
}

/** A provider with one key for good. `keptAs` tells it from others of the same prefix. */
export const keyProvider = (prefix: string, cipher: Cipher, keptAs = prefix): Provider => ({
  prefix,
  writesAs: () => keptAs,
  encrypt: (key, document) => cipher.encrypt(key, document),
  decrypt: (key, encrypted) => ({ document: cipher.decrypt(key, encrypted), keptAs }),
});

/** Documents as they are. Nothing that is encrypted passes for one. */
export const identity: Provider = keyProvider('', {
  encrypt: (_, document) => document,
  decrypt(_, kept) {
    if (isEncrypted(kept)) throw new Error('identity transformer tried to read encrypted data');
    return kept;
  },
});

/**
 * Providers by resource, which is `<group>/<plural>` as in the store's keys, or has a star in place of the plural, or of
 * both. The closest counts; what none is for is kept as it is. The first provider of a list writes, all of them read.
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

  decrypt(key: string, kept: Buffer): Decrypted {
    const ended = this.#begin('from_storage', key);
    let failed: { readonly prefix: string; readonly error: unknown } | undefined;
    for (const { provider, encrypted } of this.#readers(key, kept)) {
      const { prefix } = provider;
      try {
        const read = provider.decrypt(key, encrypted);
        ended?.(prefix, true);
        return read;
      } catch (error) {
        // `identity` fails for every encrypted document, which counts only for resources that are not to be encrypted.
        if (provider !== identity || this.#of(key) === plain) failed ??= { prefix, error };
      }
    }
    if (!(failed?.error instanceof NotFetched)) ended?.(failed?.prefix, false);
    throw failed === undefined ? new Error('no matching prefix found') : failed.error;
  }

  /** Resources without a rule are not counted. */
  #begin(type: TransformationType, key: string): TransformationEnded | undefined {
    return this.#metrics === undefined || this.#of(key) === plain ? undefined : this.#metrics.begin(type, key);
  }

  #prepare(all: readonly KeptDocument[]): Promise<void> | undefined {
    const fetched = all.flatMap(({ key, kept }) =>
      [...this.#readers(key, kept)].flatMap(({ provider, encrypted }) => provider.prepare?.(encrypted) ?? []),
    );
    return fetched.length === 0 ? undefined : Promise.all(fetched).then(() => {});
  }

  /** Providers that may have written this, and what they would have made of the document. */
  *#readers(key: string, kept: Buffer): Generator<{ readonly provider: Provider; readonly encrypted: Buffer }> {
    for (const provider of this.#of(key)) {
      const { prefix } = provider;
      const start = Buffer.byteLength(prefix);
      if (start === 0 || kept.toString('utf8', 0, start) === prefix)
        yield { provider, encrypted: kept.subarray(start) };
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
 * An encryption that follows a configuration: each call uses the current one. Data keys are fetched anew for one that
 * replaced another meanwhile.
 */
export function latest(current: () => Encryption): Encryption {
  const prepare = (all: readonly KeptDocument[]): Promise<void> | undefined => {
    const asked = current();
    return asked.prepare?.(all)?.then(() => (asked === current() ? undefined : prepare(all)));
  };
  return {
    writesAs: (key) => current().writesAs(key),
    encrypt: (key, document) => current().encrypt(key, document),
    decrypt: (key, kept) => current().decrypt(key, kept),
    prepare,
  };
}
