import { readFile } from 'node:fs/promises';
import type { Clock } from '../runtime/clock.js';
import { AccessError, type CredentialSource } from './cluster-access.js';

const keptMs = 60_000;

/**
 * A token in a file that somebody renews: read again every minute, and when it was refused. Where it cannot be read the
 * other token counts, if there is one.
 */
export function tokenFile(path: string, clock: Clock, other?: string): CredentialSource {
  let known: { readonly token: string; readonly until: number } | undefined;
  return {
    async current() {
      if (known === undefined || clock.now() >= known.until) {
        const text = await readFile(path, 'utf8').catch((cause: unknown) => {
          if (other) return other;
          throw new AccessError(`cannot read the token in ${path}`, { cause });
        });
        known = { token: text.trim(), until: clock.now() + keptMs };
      }
      return { authorization: `Bearer ${known.token}` };
    },
    refused() {
      known = undefined;
      return true;
    },
  };
}
