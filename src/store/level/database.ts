import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClassicLevel } from 'classic-level';

/** LevelDB with keys and values of bytes. */
export type Database = ClassicLevel<Buffer, Buffer>;

/** The number of bytes that LevelDB logs before it sorts them into a table. They are read again after a crash. */
const writeBufferSize = 16 * 1_048_576;

/**
 * Opens the database in a directory; creates it if there is none, unless `mustExist`.
 * @throws errors of classic-level (`code` is LEVEL_...; the cause says why), or the system's
 */
export async function openDatabase(directory: string, { mustExist = false } = {}): Promise<Database> {
  const { ClassicLevel } = await import('classic-level');
  const options = { keyEncoding: 'buffer', valueEncoding: 'buffer', writeBufferSize };
  const database = new ClassicLevel<Buffer, Buffer>(directory, options);
  await database.open({ createIfMissing: !mustExist });
  return database;
}

/** Whether a directory holds a database, by LevelDB's file that names its current files. */
export const databaseExists = (directory: string): Promise<boolean> =>
  stat(join(directory, 'CURRENT')).then(
    () => true,
    () => false,
  );

/** Removes the files of the database in a directory, and no others. */
export async function destroyDatabase(directory: string): Promise<void> {
  const { ClassicLevel } = await import('classic-level');
  await ClassicLevel.destroy(directory);
}
