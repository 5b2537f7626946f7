import { open } from 'node:fs/promises';

/** Errors to ignore: some file systems cannot sync directories, and some directories are writable but not readable. */
const ignoredCodes: ReadonlySet<string | undefined> = new Set(['EINVAL', 'ENOTSUP', 'EACCES', 'EPERM']);

/**
 * Syncs a directory, so that files created in it survive a crash of the machine, where possible. Fails with the system's
 * errors.
 */
export async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return;
  try {
    const opened = await open(directory, 'r');
    try {
      await opened.sync();
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (!ignoredCodes.has((error as NodeJS.ErrnoException).code)) throw error;
  }
}
