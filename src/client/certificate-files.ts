import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Clock } from '../runtime/clock.js';
import type { CredentialSource } from './cluster-access.js';

const keptMs = 60_000;

interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/**
 * A client certificate and its key in files that somebody renews: read again every minute, and when they were refused.
 * What was read before stays until there are others that belong together.
 */
export function certificateFiles(
  first: KeyPair,
  read: () => Promise<KeyPair | undefined>,
  clock: Clock,
): CredentialSource {
  let known = first;
  let until = clock.now() + keptMs;
  return {
    async current() {
      if (clock.now() < until) return known;
      until = clock.now() + keptMs;
      const found = await read().catch(() => undefined);
      if (found !== undefined && isPair(found)) known = found;
      return known;
    },
    refused() {
      until = clock.now();
      return true;
    },
  };
}

function isPair({ certificate, key }: KeyPair): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}
