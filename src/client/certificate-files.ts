import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Clock } from '../runtime/clock.js';
import { AccessError, type CredentialSource } from './cluster-access.js';
import { reloadingCredentials } from './reloading-credentials.js';

interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/**
 * Returns credentials from a certificate and a key file that are renewed from time to time. While the two do not match,
 * the previous ones stay in use.
 */
export const certificateFiles = (
  first: KeyPair,
  read: () => Promise<KeyPair | undefined>,
  clock: Clock,
): CredentialSource =>
  reloadingCredentials(
    async () => {
      const found = await read();
      if (found === undefined || !isPair(found)) throw new AccessError('the certificate and the key do not match');
      return found;
    },
    clock,
    { first },
  );

function isPair({ certificate, key }: KeyPair): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}
