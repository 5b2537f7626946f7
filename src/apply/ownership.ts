import { type ApiObject, asJson, type JsonObject } from '../api/object.js';
import type { Steps } from '../api/steps.js';
import { compareText } from '../api/text-order.js';
import { timestamp } from '../api/time.js';
import { same } from '../schema/same.js';
import { Comparisons, LiveVersions, VersionUnavailable } from './comparisons.js';
import { type FieldConflict, FieldConflicts } from './conflicts.js';
import { difference, emptySet, type FieldSet, intersection, isEmpty, setOf, union } from './field-set.js';
import { UnidentifiedItem } from './list-items.js';
import {
  identityOf,
  isReset,
  noOwners,
  type Owner,
  type Owners,
  readManagedFields,
  seconds,
} from './managed-fields.js';
import { hasUid, managedFieldsOf, storedOwners, withOwners, withoutOwners } from './object-owners.js';
import { fieldElement } from './path-element.js';
import { reconcileFieldSet } from './reconcile.js';
import { isBuiltIn, schemaMismatch } from './schema-mismatch.js';
import { withoutUnwritten } from './unwritten.js';
import type { WriteContext } from './write-context.js';
import { zeroObject } from './zero-value.js';

/** Field ownership after each kind of write (KEP-555). */

/** Fields that are never owned. */
const neverOwned: FieldSet = setOf(
  ...[['apiVersion'], ['kind'], ['metadata']].map((path) => path.map(fieldElement)),
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => [fieldElement('metadata'), fieldElement(name)]),
);

const maxUpdateManagers = 10;
const ancientChanges = 'ancient-changes';

/**
 * Returns the object with its owners after a create, an update, or a patch other than apply. `live` is the object
 * before the write, as its API version represents it (absent on create); `next` is the object that the client wants,
 * decoded and defaulted, but before admission and before the preparation by its kind. Never fails: if the objects
 * cannot be compared field by field, the result has no owners.
 */
export function* recordUpdate(
  writing: WriteContext & { readonly live: ApiObject | undefined; readonly next: ApiObject },
): Steps<ApiObject> {
  const live = writing.live === undefined ? undefined : asJson(writing.live);
  const next = asJson(writing.next);
  const before = yield* ownersBefore(live, next, writing.subresource !== undefined);
  yield;
  const isTracked = before.size > 0 || !hasUid(live);
  if (!isTracked) return yield* withOwners(next, noOwners);
  const { schema } = writing;
  const old = live === undefined ? zeroObject(schema) : withoutUnwritten(schema, withoutOwners(live));
  const bare = withoutUnwritten(schema, withoutOwners(next));
  if (
    (yield* schemaMismatch(writing.schema, old)) !== undefined ||
    (yield* schemaMismatch(writing.schema, bare)) !== undefined
  ) {
    return yield* withOwners(next, noOwners);
  }
  yield;
  try {
    const after = yield* ownersAfterUpdate(writing, { owners: before, live: old, next: bare });
    yield;
    return yield* withOwners(next, after);
  } catch (error) {
    if (!(error instanceof UnidentifiedItem || error instanceof VersionUnavailable)) throw error;
    return yield* withOwners(next, noOwners);
  }
}

/**
 * Returns the owners before an update. Owners that the client sent are used only for the main resource, and only if
 * they are valid.
 */
function* ownersBefore(live: JsonObject | undefined, next: JsonObject, isSubresource: boolean): Steps<Owners> {
  const stored = yield* storedOwners(live);
  const sent = managedFieldsOf(next);
  if (isSubresource || sent === undefined || same(sent, live && managedFieldsOf(live))) return stored;
  if (isReset(sent)) return noOwners;
  try {
    const owners = yield* readManagedFields(sent);
    return owners.size === 0 ? stored : owners;
  } catch {
    return stored;
  }
}

/** Returns the fields without those that are never owned. */
export const ownableFields = (fields: FieldSet): FieldSet => difference(fields, neverOwned);

/** Returns the owners after an update of `live` to `next`, both without managedFields. */
export function* ownersAfterUpdate(
  writing: WriteContext,
  { owners, live: stored, next }: { readonly owners: Owners; readonly live: JsonObject; readonly next: JsonObject },
): Steps<Owners> {
  const live = new LiveVersions(writing, stored);
  const comparisons = new Comparisons(writing, { live, next });
  const changes = yield* comparisons.in(writing.apiVersion);
  yield;
  const fitting = yield* reconcileOwners(writing, live, owners);
  const updated = yield* updateOwners(fitting, comparisons, { self: undefined, force: true });
  yield;
  const own = changes === undefined ? emptySet : ownableFields(changes.written);
  if (isEmpty(own)) return capped(updated);

  const { manager, apiVersion, subresource = '' } = writing;
  const bare = { manager, operation: 'Update', apiVersion, subresource } as const;
  const identity = identityOf(bare);
  const fields = union(own, updated.get(identity)?.fields ?? emptySet);
  // The owner moves behind those who wrote before.
  updated.delete(identity);
  updated.set(identity, { ...bare, time: timestamp(writing.now), fields });
  return capped(updated);
}

/**
 * Returns the owners after a change: all owners except `self` lose the fields that were changed or removed, and owners
 * without fields are dropped.
 *
 * @throws FieldConflicts unless `force`, if another owner has a changed field
 */
export function* updateOwners(
  owners: Owners,
  comparisons: Comparisons,
  { self, force }: { readonly self: string | undefined; readonly force: boolean },
): Steps<Map<string, Owner>> {
  const updated = new Map<string, Owner>();
  const conflicts: FieldConflict[] = [];
  for (const [identity, owner] of owners) {
    if (identity === self) {
      if (!isEmpty(owner.fields)) updated.set(identity, owner);
      continue;
    }
    const changes = yield* comparisons.in(owner.apiVersion);
    if (changes === undefined) continue;
    const overwritten = intersection(owner.fields, changes.written);
    yield;
    if (!isEmpty(overwritten) && !force) conflicts.push({ owner, fields: overwritten });
    const fields = difference(difference(owner.fields, overwritten), changes.removed);
    if (!isEmpty(fields)) updated.set(identity, fields === owner.fields ? owner : { ...owner, fields });
    yield;
  }
  if (conflicts.length > 0) throw new FieldConflicts(conflicts);
  return updated;
}

/** Adapts the fields of the owners to the current schema, in which a list or map may have become atomic. */
export function* reconcileOwners(writing: WriteContext, live: LiveVersions, owners: Owners): Steps<Owners> {
  if (isBuiltIn(writing.schema)) return owners;
  const fitting = new Map<string, Owner>();
  for (const [identity, owner] of owners) {
    const version = yield* live.in(owner.apiVersion);
    if (version === undefined) continue;
    const fields = reconcileFieldSet(version.shape, owner.fields);
    fitting.set(identity, fields === owner.fields ? owner : { ...owner, fields });
  }
  return fitting;
}

/** Joins the oldest update entries of each version until at most ten update entries are left. */
function capped(owners: Owners): Owners {
  if (owners.size <= maxUpdateManagers) return owners;
  const updates = [...owners].filter(([, { operation }]) => operation === 'Update');
  let count = updates.length;
  if (count <= maxUpdateManagers) return owners;
  updates.sort(([a, one], [b, other]) => seconds(one.time) - seconds(other.time) || compareText(a, b));

  const result = new Map(owners);
  const firstOfVersion = new Map<string, string>();
  for (const [identity, owner] of updates) {
    if (count <= maxUpdateManagers) break;
    const { apiVersion } = owner;
    const first = firstOfVersion.get(apiVersion);
    if (first === undefined) {
      firstOfVersion.set(apiVersion, identity);
      continue;
    }
    const bare = { manager: ancientChanges, operation: 'Update', apiVersion, subresource: '' } as const;
    const bucket = identityOf(bare);
    // If this is the bucket itself, the first entry of the version joins it: nothing has been joined with that one yet.
    const joins = identity === bucket ? first : identity;
    const into = result.has(bucket) ? bucket : first;
    const fields = union(result.get(joins)?.fields ?? emptySet, result.get(into)?.fields ?? emptySet);
    result.delete(joins);
    result.delete(into);
    result.set(bucket, { ...bare, time: owner.time, fields });
    count--;
  }
  return result;
}
