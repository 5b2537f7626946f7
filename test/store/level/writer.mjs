// Writes to a level store until it is killed, and prints every acknowledged revision on a separate line.
import { writeSync } from 'node:fs';

const [modulePath, directory, round, journalSize] = process.argv.slice(2);
const { openLevelStore } = await import(modulePath);
const store = await openLevelStore(directory, { historyLimit: 200, journalSize: Number(journalSize) });

async function write(writer) {
  const own = new Map();
  for (let step = 0; ; step++) {
    const key = `/writer${writer}/${round}-${step % 7}`;
    const known = own.get(key);
    const deletes = known !== undefined && step % 5 === 0;
    const bytes = Buffer.from(`{"rv":"","step":"${step}","fill":"${'x'.repeat((step * 37) % 900)}"}`);
    const document = deletes ? undefined : { bytes, revisionAt: 7 };
    const { revision } = await store.commit({ key, document, expect: known ?? 'absent' });
    if (deletes) own.delete(key);
    else own.set(key, revision);
    writeSync(1, `${revision} ${key} ${deletes ? 'delete' : step}\n`);
  }
}
await Promise.all(Array.from({ length: 12 }, (_, writer) => write(writer)));
