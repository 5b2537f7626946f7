import { messageOf } from '../api/message-of.js';
import { document, documentOf } from './document.js';
import {
  type Entry,
  type Revision,
  type ScanOptions,
  type Store,
  StoreClosed,
  type Write,
  WriteConflict,
} from './store.js';
import { StoreUnavailable } from './store-unavailable.js';

/**
 * Thrown when a store cannot be copied, or cannot be copied to the given target. The message is one sentence for the
 * user.
 */
export class CopyRefused extends Error {
  override readonly name = 'CopyRefused';
}

/** The key of a marker that a copy holds until it is complete; no object has a key without a slash. */
const unfinishedKey = 'unfinished-copy';

/** The number of entries read at once; etcd counts the remaining ones each time. */
const readAtOnce = 500;
/** The number of entries written at once; each may take a megabyte. */
const writtenAtOnce = 64;

/**
 * Copies the state of one store at a revision to another. The target must have been opened so that its revisions begin
 * after a later one: then everything read from the source is older than all revisions of the target, and the target
 * cannot be read at a revision of the source. Entries that an earlier attempt copied are kept. Until the copy is
 * complete, `checkFinished` rejects the target.
 *
 * @param leave called for each entry that cannot be read and is left out of the copy; without it, such an entry is an
 * error
 * @returns the number of entries in the copy
 * @throws CopyRefused if the target holds anything else, or if the source changed meanwhile
 * @throws StoreUnavailable if the source is itself an interrupted copy
 */
export async function copyStore(
  from: Store,
  to: Store,
  revision: Revision,
  leave?: (key: string, why: unknown) => void,
): Promise<number> {
  if ((await to.revision()) <= revision)
    throw new CopyRefused(`its revisions are not past ${revision}, the last one of what is copied: it is not new`);
  await checkFinished(from);
  const copied = await copiedBefore(from, to, revision);
  const mark = (await to.get(unfinishedKey)) ?? (await to.commit(unfinished));
  let leftOut = 0;
  const isWanted = (entry: Entry): boolean => {
    if (copied.has(entry.key)) return false;
    const cause = leave && whyUnreadable(entry);
    if (cause === undefined) return true;
    leave?.(entry.key, cause);
    leftOut++;
    return false;
  };
  for await (const page of pages(from, { at: revision, tolerant: leave !== undefined })) {
    const missing = page.filter(isWanted);
    while (missing.length > 0) await Promise.all(missing.splice(0, writtenAtOnce).map((entry) => copyEntry(entry, to)));
  }
  const count = await sizeOf(from, revision);
  if (await changedSince(from, revision, count))
    throw new CopyRefused('the source was written to meanwhile: stop its servers and start with an empty destination');
  if ((await sizeOf(to)) !== count - leftOut + 1)
    throw new CopyRefused('it was written to by someone else meanwhile: start with an empty store');
  await to.commit({ key: unfinishedKey, document: undefined, expect: mark.revision });
  return count - leftOut;
}

/** @throws StoreUnavailable if only a part of another store was copied to this one so far */
export async function checkFinished(store: Store): Promise<void> {
  if ((await store.get(unfinishedKey)) === undefined) return;
  throw new StoreUnavailable(
    'the store is an interrupted copy: finish it with the same `kedge store copy`, or use another store',
  );
}

const unfinished: Write = { key: unfinishedKey, document: document(true), expect: 'absent' };

async function copiedBefore(from: Store, to: Store, revision: Revision): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  for await (const page of pages(to)) {
    for (const entry of page) {
      if (entry.key === unfinishedKey) continue;
      const original = await from.get(entry.key);
      if (entry.revision <= revision || original === undefined || !isSame(original, entry)) throw notACopy(entry.key);
      keys.add(entry.key);
    }
  }
  return keys;
}

async function copyEntry(entry: Entry, to: Store): Promise<void> {
  try {
    await to.commit({ key: entry.key, document: documentOf(entry), expect: 'absent' });
  } catch (error) {
    if (error instanceof WriteConflict) throw notACopy(entry.key);
    // A closed store has the reason, such as a full disk, as its cause.
    const cause = error instanceof StoreClosed ? (error.cause ?? error) : error;
    throw new CopyRefused(`${entry.key} cannot be written there: ${messageOf(cause)}`, { cause: error });
  }
}

const notACopy = (key: string): CopyRefused =>
  new CopyRefused(`it already contains other data, such as ${key}: start with an empty store`);

function whyUnreadable(entry: Entry): unknown {
  try {
    documentOf(entry);
    return undefined;
  } catch (error) {
    return error;
  }
}

function isSame(one: Entry, other: Entry): boolean {
  const [a, b] = [documentOf(one), documentOf(other)];
  return a.revisionAt === b.revisionAt && a.bytes.equals(b.bytes);
}

async function changedSince(store: Store, revision: Revision, count: number): Promise<boolean> {
  let now = 0;
  for await (const page of pages(store, { tolerant: true })) {
    if (page.some((entry) => entry.revision > revision)) return true;
    now += page.length;
  }
  return now !== count;
}

async function sizeOf(store: Store, at?: Revision): Promise<number> {
  const { entries, remaining } = await store.scan('', {
    limit: 1,
    tolerant: true,
    ...(at === undefined ? {} : { at }),
  });
  return entries.length + remaining;
}

/** Yields everything in a store as of one revision: the given one, or that of the first page. */
async function* pages(
  store: Store,
  scanOptions: Pick<ScanOptions, 'at' | 'tolerant'> = {},
): AsyncGenerator<readonly Entry[]> {
  let { at } = scanOptions;
  let after: string | undefined;
  while (true) {
    const options = {
      ...scanOptions,
      limit: readAtOnce,
      ...(at === undefined ? {} : { at }),
      ...(after === undefined ? {} : { after }),
    };
    const { entries, remaining, revision } = await store.scan('', options);
    if (entries.length > 0) yield entries;
    if (remaining === 0) return;
    at = revision;
    after = entries.at(-1)?.key;
  }
}
