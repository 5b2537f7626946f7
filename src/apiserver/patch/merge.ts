import { badRequest } from '../../api/errors.js';
import { goJson } from '../../api/go-text.js';
import { cannotUnmarshal, parsedPlain } from '../../api/json-exact.js';
import { isList, isObject, type Json, type JsonObject, member, setMember } from '../../api/object.js';
import { type DeferredWork, noDeferral } from '../../api/steps.js';
import { sortTexts } from '../../api/text-order.js';
import { type PatchText, type PatchType, parsePatch } from './patch-type.js';
import { readBack, readSpelled } from './spelling.js';

/**
 * Merge patch (RFC 7386): members are merged, null removes a member, and any other value replaces. In lists and below
 * new members, nulls of objects are dropped; a list that replaces an object keeps them, as in Kubernetes.
 */
export const mergePatch: PatchType = {
  for: 'all',
  read(text, { fieldValidation }) {
    const { patch, spelt, strict, numberError } = readPatch(text, fieldValidation !== 'Ignore');
    let last: JsonObject = {};
    return {
      strict,
      apply(current, _, later) {
        last = current;
        return isList(patch) ? withoutNulls(patch, later) : mergeJson(current, patch, later);
      },
      text: (result) =>
        spelt === undefined ? { ...parsedPlain(result), numberError } : readBack(mergeJson(last, spelt, noDeferral)),
      shown: goJson,
    };
  },
};

const notPatch = 'Invalid JSON Patch';

function readPatch(
  read: PatchText,
  isStrict: boolean,
): {
  readonly patch: JsonObject | readonly Json[];
  readonly spelt: JsonObject | undefined;
  readonly strict: readonly string[];
  readonly numberError: string | undefined;
} {
  const refuse = (message: string): Error => badRequest(isStrict ? `error decoding patch: ${message}` : notPatch);
  const text = parsePatch(read, refuse);
  const { value, exact, duplicates, numberError } = text;
  if (value === null) throw badRequest(notPatch);
  // Without field validation a list replaces the object.
  if (isList(value) && !isStrict) return { patch: value, spelt: undefined, strict: [], numberError };
  if (!isObject(value)) {
    throw refuse(cannotUnmarshal(value, 'map[string]interface {}'));
  }
  // Otherwise a bad number is reported with the result.
  if (isStrict && numberError !== undefined) throw refuse(numberError);
  const strict = isStrict ? duplicates : [];
  const isPlain = exact === value || text.bytes === undefined;
  const spelt = isPlain ? undefined : (readSpelled(text.bytes, duplicates.length > 0) as JsonObject | undefined);
  return { patch: value, spelt, strict, numberError };
}

/** Merges a patch into an object. The depth was limited when the texts were parsed. Members are sorted, as refusals show them. */
export function mergeJson(target: JsonObject, patch: JsonObject, later: DeferredWork): JsonObject {
  const out: Record<string, Json> = {};
  const names = Object.keys(target);
  for (const name of Object.keys(patch)) if (!Object.hasOwn(target, name)) names.push(name);
  sortTexts(names);
  later.each(names.length, (at) => {
    const name = names[at] ?? '';
    const live = member(target, name) ?? null;
    const patched = member(patch, name);
    if (patched !== null) setMember(out, name, patched === undefined ? live : mergedValue(live, patched, later));
  });
  return out;
}

function mergedValue(live: Json, patch: Json, later: DeferredWork): Json {
  if (!isObject(live)) return withoutNulls(patch, later);
  return isObject(patch) ? mergeJson(live, patch, later) : patch;
}

/** Returns the value without members that are null. Nulls that are items of lists stay. */
export function withoutNulls(value: Json, later: DeferredWork): Json {
  if (isList(value)) return value.map((item) => (item === null ? null : withoutNulls(item, later)));
  if (!isObject(value)) return value;
  const out: Record<string, Json> = {};
  const names = sortTexts(Object.keys(value));
  later.each(names.length, (at) => {
    const name = names[at] ?? '';
    const item = value[name] ?? null;
    if (item !== null) setMember(out, name, withoutNulls(item, later));
  });
  return out;
}
