import type { ApiObject } from '../api/object.js';

/** A change to the objects in a cache. */
export type CacheChange<T extends ApiObject> =
  | { readonly type: 'added'; readonly object: T; readonly previous: undefined }
  | { readonly type: 'modified'; readonly object: T; readonly previous: T }
  /** `object` is the last known state. */
  | { readonly type: 'deleted'; readonly object: T; readonly previous: T };

/** Emits the change between two states of a key. An object with another uid is a deletion and an addition. */
export function emitDifference<T extends ApiObject>(
  previous: T | undefined,
  object: T,
  emit: (change: CacheChange<T>) => void,
): void {
  if (previous !== undefined && previous.metadata.uid !== object.metadata.uid) {
    emit({ type: 'deleted', object: previous, previous });
    emit({ type: 'added', object, previous: undefined });
  } else if (previous === undefined) emit({ type: 'added', object, previous });
  else emit({ type: 'modified', object, previous });
}
