import { atRevision, StoredEntry, unpooled, withRevision } from './document.js';
import type { WrittenChange } from './history.js';
import { isKey } from './key-order.js';
import { type Entry, type Revision, type Write, WriteConflict } from './store.js';

/**
 * Rejects a write that is invalid for any store, whatever it holds.
 * @throws TypeError
 */
export function checkWrite({ key, document, expect }: Write): void {
  if (!isKey(key)) throw new TypeError('a key must be a non-empty string of valid Unicode');
  if (document === undefined) {
    if (expect === 'absent') throw new TypeError(`a deletion must name the revision it expects: ${key}`);
    return;
  }
  const { bytes, revisionAt } = document;
  if (Number.isInteger(revisionAt) && revisionAt >= -1 && revisionAt <= bytes.length) return;
  throw new TypeError(`the position of the revision is outside the document: ${key}`);
}

/** @throws WriteConflict unless `actual` is what the write expects */
export function checkExpectation(write: Write, actual: Entry | undefined): void {
  const holds = write.expect === 'absent' ? actual === undefined : actual?.revision === write.expect;
  if (!holds) throw new WriteConflict(write.key, actual);
}

/**
 * Returns the change that a write makes to the entry it found, at the assigned revision. The write's expectation must
 * have been checked.
 */
export function changeOf(
  { key, document }: Write,
  actual: Entry | undefined,
  revision: Revision,
  keptAs?: string,
): WrittenChange {
  if (document !== undefined) {
    const bytes = unpooled(withRevision(document, revision));
    return {
      type: 'put',
      entry: new StoredEntry(key, revision, bytes, document.revisionAt, keptAs),
      previous: actual,
    };
  }
  if (actual === undefined) throw new TypeError(`nothing to delete at ${key}`);
  return { type: 'delete', entry: atRevision(actual, revision), previous: actual };
}
