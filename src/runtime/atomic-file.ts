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
    // It may hold a key. Where it cannot be removed either, the first failure is the one to tell.
    await rm(temporary, { force: true }).catch(() => {});
    throw cannot('write', path, error);
  }
  // The directory may be new itself. What was written is there in any case, until the power fails.
  for (const directory of [dirname(path), dirname(dirname(path))]) await syncDirectory(directory).catch(() => {});
}

/** By itself the system does not always say of which file it speaks. */
function cannot(act: 'read' | 'write', path: string, cause: unknown): Error {
  const { code, message } = cause as NodeJS.ErrnoException;
  return new Error(`cannot ${act} ${path}: ${code ?? message}`, { cause });
}
