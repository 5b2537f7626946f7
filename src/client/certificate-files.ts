import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Clock } from '../runtime/clock.js';
import type { CredentialSource, Credentials } from './cluster-access.js';
import { reread } from './reread.js';

interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/**
 * A client certificate and its key in files that somebody renews. What was read before stays until there are others that
 * belong together.
 */
export const certificateFiles = (
  first: KeyPair,
  read: () => Promise<KeyPair | undefined>,
  clock: Clock,
): CredentialSource =>
  reread(
    async (before: Credentials = first) => {
      const found = await read().catch(() => undefined);
      return found !== undefined && isPair(found) ? found : before;
    },
    clock,
    first,
  );

function isPair({ certificate, key }: KeyPair): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}
