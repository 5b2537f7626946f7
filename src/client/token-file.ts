import type { Clock } from '../runtime/clock.js';
import { readLimitedText } from '../runtime/read-limited.js';
import { AccessError, type CredentialSource } from './cluster-access.js';
import { reloadingCredentials } from './reloading-credentials.js';

/** A token in a file that somebody renews. Until it can be read the other token counts, if there is one. */
export const tokenFile = (path: string, clock: Clock, other?: string): CredentialSource =>
  reloadingCredentials(
    async () => {
      const token = await readLimitedText(path).catch((cause: unknown) => {
        throw new AccessError(`cannot read the token in ${path}`, { cause });
      });
      // Caught while it is being written.
      if (token.trim() === '') throw new AccessError(`there is no token in ${path}`);
      return bearer(token.trim());
    },
    clock,
    { otherwise: other ? bearer(other) : undefined },
  );

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
