import { readFile } from 'node:fs/promises';
import type { Clock } from '../runtime/clock.js';
import { AccessError, type CredentialSource } from './cluster-access.js';
import { reread } from './reread.js';

/** A token in a file that somebody renews. Where it cannot be read the other token counts, if there is one. */
export const tokenFile = (path: string, clock: Clock, other?: string): CredentialSource =>
  reread(async () => {
    const token = await readFile(path, 'utf8').catch((cause: unknown) => {
      if (other) return other;
      throw new AccessError(`cannot read the token in ${path}`, { cause });
    });
    return { authorization: `Bearer ${token.trim()}` };
  }, clock);
