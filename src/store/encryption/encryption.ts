import { internalError } from '../../api/errors.js';
import { messageOf } from '../../api/message-of.js';

/** How documents are kept, wherever they leave this process. Everything else sees them as they are. */
export interface Encryption {
  /**
   * The prefix of what is kept of a document that is written under a key now, which names the provider and its key;
   * '' if documents are kept as they are.
   */
  writesAs(key: string): string;
  /** What is kept of a document. */
  encrypt(key: string, document: Buffer): Buffer;
  /**
   * The document, and the prefix it was kept with.
   * @throws Error that says why it cannot be read
   */
  decrypt(key: string, kept: Buffer): Decrypted;
}

export interface Decrypted {
  readonly document: Buffer;
  readonly keptAs: string;
}

/** What everything begins with that is encrypted, and no document: as in Kubernetes, so that people find it. */
export const encryptedPrefix = 'k8s:enc:';
const prefixBytes = Buffer.from(encryptedPrefix);

export const isEncrypted = (kept: Buffer): boolean => kept.subarray(0, prefixBytes.length).equals(prefixBytes);

/**
 * A document as it is kept.
 * @throws ApiError (500) that says which one cannot be read, and why
 */
export function decrypted(encryption: Encryption, key: string, kept: Buffer): Decrypted {
  try {
    return encryption.decrypt(key, kept);
  } catch (error) {
    throw internalError(`unable to transform key ${JSON.stringify(key)}: ${messageOf(error)}`, error);
  }
}

/** One way of keeping documents. */
export interface Provider {
  /** What is kept by it begins with this; '' for documents as they are. */
  readonly prefix: string;
  /** What follows the prefix. */
  encrypt(key: string, document: Buffer): Buffer;
  /** @throws Error if that is not what `encrypt` made for this key */
  decrypt(key: string, encrypted: Buffer): Buffer;
}

/** Documents as they are. Nothing that is encrypted passes for one. */
export const identity: Provider = {
  prefix: '',
  encrypt: (_, document) => document,
  decrypt(_, kept) {
    if (isEncrypted(kept)) throw new Error('identity transformer tried to read encrypted data');
    return kept;
  },
};

/**
 * Providers by resource, which is `<group>/<plural>` as in the store's keys, or has a star in place of the plural, or of
 * both. The closest counts; what none is for is kept as it is. The first provider of a list writes, all of them read.
 */
export class ResourceEncryption implements Encryption {
  readonly #providers: ReadonlyMap<string, readonly [Provider, ...Provider[]]>;

  constructor(providers: ReadonlyMap<string, readonly [Provider, ...Provider[]]> = new Map()) {
    this.#providers = providers;
  }

  writesAs(key: string): string {
    return this.#of(key)[0].prefix;
  }

  encrypt(key: string, document: Buffer): Buffer {
    const [provider] = this.#of(key);
    const encrypted = provider.encrypt(key, document);
    return provider.prefix === '' ? encrypted : Buffer.concat([Buffer.from(provider.prefix), encrypted]);
  }

  decrypt(key: string, kept: Buffer): Decrypted {
    const errors: unknown[] = [];
    for (const provider of this.#of(key)) {
      const { prefix } = provider;
      const start = Buffer.byteLength(prefix);
      if (start > 0 && kept.toString('utf8', 0, start) !== prefix) continue;
      try {
        return { document: provider.decrypt(key, kept.subarray(start)), keptAs: prefix };
      } catch (error) {
        errors.push(error);
      }
    }
    throw errors[0] ?? new Error('no matching prefix found');
  }

  #of(key: string): readonly [Provider, ...Provider[]] {
    const { size } = this.#providers;
    if (size === 0) return plain;
    const group = key.indexOf('/');
    const plural = key.indexOf('/', group + 1);
    return (
      this.#providers.get(key.slice(0, Math.max(plural, 0))) ??
      this.#providers.get(`${key.slice(0, Math.max(group, 0))}/*`) ??
      this.#providers.get('*/*') ??
      plain
    );
  }
}

const plain = [identity] as const;
