import type { Clock } from '../runtime/clock.js';
import { readLimitedText } from '../runtime/read-limited.js';
import { AccessError, type CredentialSource } from './cluster-access.js';
import { reloadingCredentials } from './reloading-credentials.js';

/**
 * Returns credentials from a token file that is renewed from time to time. Until it can be read, `other` is used, if
 * given.
 */
export const tokenFile = (path: string, clock: Clock, other?: string): CredentialSource =>
  reloadingCredentials(
    async () => {
      const token = await readLimitedText(path).catch((cause: unknown) => {
        throw new AccessError(`cannot read the token in ${path}`, { cause });
      });
      // The file is being written.
      if (token.trim() === '') throw new AccessError(`no token in ${path}`);
      return bearer(token.trim());
    },
    clock,
    { otherwise: other ? bearer(other) : undefined },
  );

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
