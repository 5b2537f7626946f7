import { createHash } from 'node:crypto';
import type { Parts } from '../apiserver/parts.js';

/**
 * Returns generators of uids and name suffixes that are the same in every run: derived from the object's storage key
 * and the number of ids generated for that key before.
 */
export function stableIds(): Pick<Parts, 'uuid' | 'random'> {
  const counts = new Map<string, number>();
  const bytesFor = (place: string): Buffer => {
    const count = counts.get(place) ?? 0;
    counts.set(place, count + 1);
    return createHash('sha256').update(`${place} ${count}`).digest();
  };
  return {
    uuid(place) {
      const hex = bytesFor(place).toString('hex');
      const parts = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(12, 15)}`, `8${hex.slice(15, 18)}`];
      return [...parts, hex.slice(18, 30)].join('-');
    },
    random(place) {
      const bytes = bytesFor(place).values();
      return () => (bytes.next().value ?? 0) / 256;
    },
  };
}
