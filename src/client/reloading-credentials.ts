import type { Clock } from '../runtime/clock.js';
import type { ClientCredentials, CredentialSource } from './cluster-access.js';

const keptMs = 60_000;

/**
 * Credentials in files that are renewed from time to time: read again every minute, and after they were refused. While they
 * cannot be read, as in the middle of a renewal, the previous ones are used; `first` are some that were read just now,
 * `otherwise` those to use before any could be read.
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
