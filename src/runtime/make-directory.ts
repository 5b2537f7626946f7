import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a directory and its parents; an existing one is left unchanged. The `recursive` option of Node.js never ends
 * on a file system that answers ENOENT within an existing directory, as `/proc` does. Fails with the system's errors.
 */
export async function makeDirectory(path: string, { mode = 0o777 }: { readonly mode?: number } = {}): Promise<void> {
  if (await isDirectory(path)) return;
  const above = dirname(path);
  if (above !== path) await makeDirectory(above, { mode });
  await mkdir(path, { mode }).catch(async (error: NodeJS.ErrnoException) => {
    // Another process may have created it meanwhile.
    if (error.code !== 'EEXIST' || !(await isDirectory(path))) throw error;
  });
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
