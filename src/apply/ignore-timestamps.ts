import { type ApiObject, asJson, type Json, type JsonObject } from '../api/object.js';
import type { Steps } from '../api/steps.js';
import { sameInSteps } from '../schema/same.js';

/**
 * Returns `next` with the managedFields timestamps of `live` if nothing else differs, apart from an absent
 * resourceVersion. Such a write changes nothing.
 */
export function* ignoreTimestampChanges(live: ApiObject, next: ApiObject): Steps<ApiObject> {
  const old = live.metadata.managedFields ?? [];
  const now = next.metadata.managedFields ?? [];
  if (old.length !== now.length || old.length === 0) return next;
  if (old.every(({ time }, index) => time === now[index]?.time)) return next;
  const timeless = (entries: typeof old): Json => entries.map(({ time: _, ...rest }) => rest) as unknown as Json;
  if (!(yield* sameInSteps(timeless(old), timeless(now)))) return next;
  if (!(yield* sameInSteps(contentOf(live), contentOf(next)))) return next;
  return { ...next, metadata: { ...next.metadata, managedFields: old } };
}

function contentOf(object: ApiObject): JsonObject {
  const { managedFields: _, resourceVersion: __, ...metadata } = object.metadata;
  return { ...asJson(object), metadata: metadata as unknown as Json };
}
