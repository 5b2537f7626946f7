import { readFileSync } from 'node:fs';

/** Returns the maximum number of open files and connections of this process; undefined if the system does not report it. */
export function openFileLimit(): number | undefined {
  try {
    // Node.js raises the soft limit to the hard one when it starts.
    const [, soft] = /^Max open files +(\d+) /m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
