import type { Clock } from '../runtime/clock.js';
import type { CredentialSource, Credentials } from './cluster-access.js';

const keptMs = 60_000;

/** Credentials in files that somebody renews: read again every minute, and when they were refused. */
export function reread(
  read: (before: Credentials | undefined) => Promise<Credentials>,
  clock: Clock,
  first?: Credentials,
): CredentialSource {
  let known = first;
  let until = first === undefined ? 0 : clock.monotonic() + keptMs;
  return {
    async current() {
      if (known === undefined || clock.monotonic() >= until) {
        known = await read(known);
        until = clock.monotonic() + keptMs;
      }
      return known;
    },
    refused() {
      until = clock.monotonic();
      return true;
    },
  };
}
