import { isList, type Json, setMember } from './object.js';
import { nothingPostponed, Postponed, type Steps } from './steps.js';

/** A copy of what is JSON that shares nothing with it. What is postponed is missing until it was done. */
export function ownCopy(value: Json, later: Postponed = nothingPostponed): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) {
    const items: Json[] = [];
    later.each(value.length, (at) => void items.push(ownCopy(value[at] as Json, later)));
    return items;
  }
  const members: Record<string, Json> = {};
  const names = Object.keys(value);
  later.each(names.length, (at) => {
    const name = names[at] as string;
    setMember(members, name, ownCopy(value[name] as Json, later));
  });
  return members;
}

/** The same of a value that may be large. */
export function* ownCopyInSteps(value: Json): Steps<Json> {
  const later = new Postponed();
  const copy = ownCopy(value, later);
  yield* later.rest();
  return copy;
}
