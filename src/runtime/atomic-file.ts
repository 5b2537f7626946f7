import { randomBytes } from 'node:crypto';
import { chmod, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeDirectory } from './make-directory.js';
import { syncDirectory } from './sync-directory.js';

/** Returns the text of a file; undefined if there is none. Fails with an Error that names it. */
export async function readFileIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw cannot('read', path, error);
  }
}

/** Writes a file completely or not at all. Fails with an Error that names it. */
export async function writeFileAtomically(path: string, text: string, mode: number): Promise<void> {
  const temporary = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    await makeDirectory(dirname(path));
    await writeFile(temporary, text, { mode, flush: true });
    await chmod(temporary, mode);
    await rename(temporary, path);
  } catch (error) {
    // The file may hold a key. If it cannot be removed either, the first failure is the one to report.
    await rm(temporary, { force: true }).catch(() => {});
    throw cannot('write', path, error);
  }
  // The directory itself may be new. Without the sync the file exists nevertheless, unless the power fails.
  for (const directory of [dirname(path), dirname(dirname(path))]) await syncDirectory(directory).catch(() => {});
}

/** Returns an error that names the file, which the system's own errors do not always do. */
function cannot(act: 'read' | 'write', path: string, cause: unknown): Error {
  const { code, message } = cause as NodeJS.ErrnoException;
  return new Error(`cannot ${act} ${path}: ${code ?? message}`, { cause });
}
