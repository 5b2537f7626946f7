import { readFileSync } from 'node:fs';

/** How many files and connections this process may have open at a time; undefined where the system does not tell. */
export function openFileLimit(): number | undefined {
  try {
    // Node raises the soft limit to the hard one when it starts.
    const [, soft] = /^Max open files +(\d+) /m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
