import { closeSync, fsyncSync, openSync } from 'node:fs';

/** So that a file made in it is there after a crash; systems that cannot do this do not need it. */
export function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const opened = openSync(directory, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
