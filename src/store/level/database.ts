import type { ClassicLevel } from 'classic-level';

/** LevelDB with keys and values of bytes. */
export type Database = ClassicLevel<Buffer, Buffer>;

/** How much LevelDB logs before it sorts that into a table: what must be read again after a crash. */
const writeBufferSize = 16 * 1_048_576;

/**
 * Opens the database in a directory, which is made if there is none.
 * @throws errors of classic-level (`code` is LEVEL_...; the cause says why), or the system's
 */
export async function openDatabase(directory: string): Promise<Database> {
  const { ClassicLevel } = await import('classic-level');
  const options = { keyEncoding: 'buffer', valueEncoding: 'buffer', writeBufferSize };
  const database = new ClassicLevel<Buffer, Buffer>(directory, options);
  await database.open();
  return database;
}
