import { join } from 'node:path';
import { messageOf } from '../api/message-of.js';
import type { KeyPair } from '../pki/certificate-authority.js';
import { certificateBlocks, encodeCertificates } from '../pki/pem.js';
import { readFileIfExists, writeFileAtomically } from '../runtime/atomic-file.js';

/** Files whose replacement invalidates everything issued with them. */
export type ReliedOnFile = 'ca' | 'sa.key';

/** The storage of the keys and certificates of a server. */
export interface CredentialFiles {
  /** Returns the path of a pair; undefined if it is in memory. */
  fileOf(name: string): string | undefined;
  /** Returns a pair. Creates a new one if it is missing, not `good`, or unreadable. */
  pair(name: string, make: () => Promise<KeyPair>, good: (pair: KeyPair) => boolean): Promise<KeyPair>;
  /**
   * Returns a pair that is created once and never replaced. Fails with an error of one sentence if it is unreadable.
   */
  keep<T>(name: 'ca', make: () => Promise<KeyPair>, read: (pair: KeyPair) => T): Promise<T>;
  /** Like `keep`, for a text. */
  text(name: 'sa.key', make: () => Promise<string>, good: (text: string) => boolean): Promise<string>;
}

export function filesInMemory(): CredentialFiles {
  const pairs = new Map<string, KeyPair>();
  return {
    fileOf: () => undefined,
    async pair(name, make, good) {
      const known = pairs.get(name);
      if (known !== undefined && good(known)) return known;
      const created = await make();
      pairs.set(name, created);
      return created;
    },
    keep: async (_name, make, read) => read(await make()),
    text: (_name, make) => make(),
  };
}

/** Returns credential files in a directory: `<name>.crt` and `<name>.key`. Keys are readable by their owner only. */
export function filesInDirectory(
  directory: string,
  onMade: (name: ReliedOnFile, file: string) => void,
): CredentialFiles {
  // Both are in one file, so that a crash never leaves parts that do not match. The readable copies are written
  // afterwards.
  const fileOf = (name: string): string => join(directory, `${name}.pem`);
  const write = async (name: string, pair: KeyPair): Promise<KeyPair> => {
    await writeFileAtomically(fileOf(name), `${pair.certificate}${pair.key}`, 0o600);
    return copied(name, pair);
  };
  const copied = async (name: string, pair: KeyPair): Promise<KeyPair> => {
    const path = join(directory, `${name}.crt`);
    if ((await readFileIfExists(path)) !== pair.certificate) await writeFileAtomically(path, pair.certificate, 0o644);
    return pair;
  };
  return {
    fileOf,
    async pair(name, make, good) {
      const found = await readFileIfExists(fileOf(name));
      const known = found === undefined ? undefined : split(found);
      return known !== undefined && holds(() => good(known)) ? copied(name, known) : write(name, await make());
    },
    async keep(name, make, read) {
      const found = await readFileIfExists(fileOf(name));
      if (found === undefined) {
        const created = await write(name, await make());
        onMade(name, fileOf(name));
        return read(created);
      }
      const pair = split(found);
      const result = undamaged(fileOf(name), () => read(pair));
      await copied(name, pair);
      return result;
    },
    async text(name, make, good) {
      const path = join(directory, name);
      const found = await readFileIfExists(path);
      if (found !== undefined) {
        if (!good(found)) throw new Error(`${path} is damaged: it contains no private key`);
        return found;
      }
      const created = await make();
      await writeFileAtomically(path, created, 0o600);
      onMade(name, path);
      return created;
    },
  };
}

/** Returns the condition; false if it throws. */
export const holds = (condition: () => boolean): boolean => {
  try {
    return condition();
  } catch {
    return false;
  }
};

/**
 * Returns the value. Throws if the file is unreadable, because clients depend on it and it must not be replaced
 * silently.
 */
function undamaged<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new Error(`${path} is damaged: ${messageOf(cause)}`, { cause });
  }
}

const privateKey = /-----BEGIN ((?:[A-Z]+ )?PRIVATE KEY)-----[\s\S]*?-----END \1-----\n?/;

/**
 * Splits a PEM file in which the key may be anywhere between the certificates. The certificates are encoded again, so
 * that they never contain parts of the key, even if the file is damaged.
 */
function split(pem: string): KeyPair {
  return { certificate: encodeCertificates(certificateBlocks(pem)), key: privateKey.exec(pem)?.[0] ?? '' };
}
