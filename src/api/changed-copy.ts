import { type Json, type JsonObject, setMember } from './object.js';
import { type DeferredWork, itemsPerStep } from './steps.js';

/**
 * Copies a map and applies `count` changes to the copy: now, or `later` if there is much to do (`isPostponed`).
 * Copying a large map takes longer than most of what is done to it.
 */
export function changedCopy(
  map: JsonObject,
  count: number,
  change: (copy: Record<string, Json>, at: number) => void,
  later: DeferredWork,
): { readonly copy: Record<string, Json>; readonly isPostponed: boolean } {
  const names = Object.keys(map);
  if (names.length + count <= itemsPerStep) {
    const copy: Record<string, Json> = { ...map };
    for (let at = 0; at < count; at++) change(copy, at);
    return { copy, isPostponed: false };
  }
  const copy: Record<string, Json> = {};
  const isPostponed = later.each(names.length + count, (at) => {
    if (at >= names.length) return change(copy, at - names.length);
    const name = names[at] ?? '';
    setMember(copy, name, map[name] ?? null);
  });
  return { copy, isPostponed };
}
