import { isList, type Json, setMember } from './object.js';
import { DeferredWork, type Steps } from './steps.js';

/** Returns a deep copy of a JSON value. */
export function deepCopy(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map(deepCopy);
  const members: Record<string, Json> = {};
  for (const name of Object.keys(value)) setMember(members, name, deepCopy(value[name] as Json));
  return members;
}

/** Like `deepCopy`, in steps for a value that may be large. */
export function* deepCopyInSteps(value: Json): Steps<Json> {
  const later = new DeferredWork();
  const copy = (part: Json): Json => {
    if (typeof part !== 'object' || part === null) return part;
    if (isList(part)) {
      const items: Json[] = [];
      later.each(part.length, (at) => void items.push(copy(part[at] as Json)));
      return items;
    }
    const members: Record<string, Json> = {};
    const names = Object.keys(part);
    later.each(names.length, (at) => {
      const name = names[at] as string;
      setMember(members, name, copy(part[name] as Json));
    });
    return members;
  };
  const result = copy(value);
  yield* later.rest();
  return result;
}
