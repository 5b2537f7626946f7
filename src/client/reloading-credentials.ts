import type { Clock } from '../runtime/clock.js';
import type { ClientCredentials, CredentialSource } from './cluster-access.js';

const keptMs = 60_000;

/**
 * Returns credentials from files that are renewed from time to time: they are read again every minute, and after they
 * were rejected. While they cannot be read, for example in the middle of a renewal, the previous ones are used. `first`
 * are credentials that have just been read; `otherwise` are those to use until they can be read.
 */
export function reloadingCredentials(
  read: () => Promise<ClientCredentials>,
  clock: Clock,
  { first, otherwise }: { readonly first?: ClientCredentials; readonly otherwise?: ClientCredentials | undefined } = {},
): CredentialSource {
  let known = first ?? otherwise;
  let until = first === undefined ? Number.NEGATIVE_INFINITY : clock.monotonic() + keptMs;
  return {
    async current() {
      if (known !== undefined && clock.monotonic() < until) return known;
      try {
        known = await read();
        until = clock.monotonic() + keptMs;
      } catch (error) {
        if (known === undefined) throw error;
      }
      return known;
    },
    refused() {
      until = clock.monotonic();
      return true;
    },
  };
}
