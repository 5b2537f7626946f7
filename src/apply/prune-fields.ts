import { isObject, type Json, type JsonObject } from '../api/object.js';
import type { Steps } from '../api/steps.js';
import { inVersion } from './comparisons.js';
import { difference, emptySet, type FieldSet, intersection, union } from './field-set.js';
import { fieldSetOf, withNamedMembers } from './field-set-of.js';
import { identityOf, type Owner, type Owners } from './managed-fields.js';
import { remove } from './remove.js';
import type { WriteContext } from './write-context.js';

/** Removes fields that an applier owned but no longer applies. */

const pruning = 'failed to prune fields: ';

/** Returns the value if it is an object, otherwise the second argument. */
export const objectOrElse = (value: Json, otherwise: JsonObject): JsonObject => (isObject(value) ? value : otherwise);

/**
 * Removes the fields that the applier owned, that it no longer applies, and that no other manager owns. `owners`
 * includes the fields that are applied now.
 */
export function* pruneFields(
  writing: WriteContext,
  merged: JsonObject,
  owners: Owners,
  previous: Owner | undefined,
): Steps<JsonObject> {
  if (previous === undefined || previous.fields.size === 0 || isAppliedAgain(previous, owners)) return merged;
  const attempt = `${pruning}failed to convert merged object to last applied version: `;
  const at = yield* inVersion(writing, merged, previous.apiVersion, attempt);
  if (at === undefined) return merged;
  const last = withNamedMembers(previous.fields, at.shape);
  const bare = objectOrElse(remove(at.shape, at.object, last), {});
  yield;
  const withOwned = yield* addBackOwned(writing, at.object, bare, previous.apiVersion, owners);
  yield;
  const mergedFields = withNamedMembers(yield* fieldSetOf(at.shape, at.object), at.shape);
  yield;
  const leftFields = withNamedMembers(yield* fieldSetOf(at.shape, withOwned), at.shape);
  yield;
  const gone = intersection(difference(mergedFields, leftFields), last);
  yield;
  const pruned = objectOrElse(remove(at.shape, at.object, gone), {});
  if (previous.apiVersion === writing.apiVersion) return pruned;
  return writing.versions?.convert(pruned, writing.apiVersion)?.object ?? pruned;
}

/**
 * Whether an applier applies everything again that it owned, and no manager uses another version: then nothing is to be
 * removed, and no conversion can fail.
 */
function isAppliedAgain(previous: Owner, owners: Owners): boolean {
  for (const { apiVersion } of owners.values()) if (apiVersion !== previous.apiVersion) return false;
  const applied = owners.get(identityOf(previous))?.fields ?? emptySet;
  return difference(previous.fields, applied).size === 0;
}

/** Adds back the fields that have owners, version by version, converted to the version of `bare`. */
function* addBackOwned(
  writing: WriteContext,
  merged: JsonObject,
  bare: JsonObject,
  apiVersion: string,
  owners: Owners,
): Steps<JsonObject> {
  const ownedIn = new Map<string, FieldSet>();
  for (const owner of owners.values()) {
    ownedIn.set(owner.apiVersion, union(ownedIn.get(owner.apiVersion) ?? emptySet, owner.fields));
  }
  const first = ownedIn.get(apiVersion);
  ownedIn.delete(apiVersion);
  let restored = bare;
  if (first !== undefined)
    restored = yield* addBack(writing, { merged, bare: restored, in: apiVersion, apiVersion, owned: first });
  for (const [version, owned] of ownedIn) {
    restored = yield* addBack(writing, { merged, bare: restored, in: apiVersion, apiVersion: version, owned });
  }
  return restored;
}

function* addBack(
  writing: WriteContext,
  objects: {
    readonly merged: JsonObject;
    readonly bare: JsonObject;
    /** The version of `merged` and `bare`. */
    readonly in: string;
    /** The version of the field names in `owned`. */
    readonly apiVersion: string;
    readonly owned: FieldSet;
  },
): Steps<JsonObject> {
  const from = { ...writing, apiVersion: objects.in, schema: schemaIn(writing, objects.merged, objects.in) };
  const attempt = (label: string): string =>
    `${pruning}failed add back owned items: failed to convert ${label} object at version ${objects.apiVersion}: `;
  const merged = yield* inVersion(from, objects.merged, objects.apiVersion, attempt('merged'));
  const bare = yield* inVersion(from, objects.bare, objects.apiVersion, attempt('pruned'));
  if (merged === undefined || bare === undefined) return objects.bare;
  const { shape } = merged;
  yield;
  const mergedFields = withNamedMembers(yield* fieldSetOf(shape, merged.object), shape);
  yield;
  const bareFields = withNamedMembers(yield* fieldSetOf(shape, bare.object), shape);
  yield;
  const ownedFields = union(bareFields, withNamedMembers(objects.owned, shape));
  yield;
  const gone = difference(mergedFields, ownedFields);
  yield;
  const pruned = objectOrElse(remove(shape, merged.object, gone), {});
  if (objects.apiVersion === objects.in) return pruned;
  return writing.versions?.convert(pruned, objects.in)?.object ?? objects.bare;
}

const schemaIn = (writing: WriteContext, object: JsonObject, apiVersion: string): WriteContext['schema'] =>
  apiVersion === writing.apiVersion
    ? writing.schema
    : (writing.versions?.convert(object, apiVersion)?.schema ?? writing.schema);
