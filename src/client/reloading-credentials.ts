import type { Clock } from '../runtime/clock.js';
import type { ClientCredentials, CredentialSource } from './cluster-access.js';

const keptMs = 60_000;

/**
 * Credentials in files that somebody renews: read again every minute, and when they were refused. As long as they cannot
 * be read, as in the middle of a renewal, those of before count; `first` are some that were read just now, `otherwise`
 * those that count before any could be.
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
