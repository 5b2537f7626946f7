import { type ApiObject, groupVersionComplaint, isObject, type Json, type JsonObject } from '../api/object.js';
import type { Steps } from '../api/steps.js';
import { compareText } from '../api/text-order.js';
import { timestamp } from '../api/time.js';
import { omitsEmpty } from '../schema/presence.js';
import { same, sameInSteps } from '../schema/same.js';
import type { Schema } from '../schema/schema.js';
import { checkShape, joinErrors } from './check.js';
import { compare, without } from './compare.js';
import { type FieldConflict, FieldConflicts } from './conflicts.js';
import { difference, emptySet, type FieldSet, intersection, isEmpty, setOf, union } from './field-set.js';
import { asJson } from './json-value.js';
import { UnidentifiedItem } from './list-items.js';
import {
  identityOf,
  isReset,
  noOwners,
  type Owner,
  type Owners,
  readManagedFields,
  seconds,
  writeManagedFields,
} from './managed-fields.js';
import { fieldElement } from './path-element.js';
import { reconcile } from './reconcile.js';
import { type Shape, shapeOfObject } from './shape.js';
import { withoutUnwritten } from './unwritten.js';
import { zeroObject } from './zero-value.js';

/** Who owns which field of an object, after each kind of write (KEP-555). */

/** One write, as far as ownership cares. */
export interface Writing {
  /** Schema of the object in `apiVersion`. */
  readonly schema: Schema;
  /** Version of the endpoint written to: `v1`, `apps/v1`. */
  readonly apiVersion: string;
  /** As `managerName` answers it. */
  readonly manager: string;
  /** Absent for the main resource. */
  readonly subresource?: string | undefined;
  /** Milliseconds. */
  readonly now: number;
  /** Fields that this endpoint does not write, and so never owns; everything below them included. */
  readonly resetFields?: readonly (readonly string[])[] | undefined;
  /** For kinds with several versions. */
  readonly versions?: Versions | undefined;
}

/** The versions of a kind. */
export interface Versions {
  /** The same object in another version, with its schema there; undefined if there is no such version. */
  convert(object: JsonObject, apiVersion: string): { readonly object: JsonObject; readonly schema: Schema } | undefined;
}

/** Fields nobody owns. */
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
 * The object with its owners as they are after a create, an update or a patch other than apply. `live` is what was
 * there before, as its API version prints it (absent on create); `next` is what the client wants, decoded and
 * defaulted, before admission and before the kind's own preparation. Never fails: where fields cannot be told apart,
 * nobody owns any.
 */
export function* recordUpdate(
  writing: Writing & { readonly live: ApiObject | undefined; readonly next: ApiObject },
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
  if ((yield* misfit(writing.schema, old)) !== undefined || (yield* misfit(writing.schema, bare)) !== undefined) {
    return yield* withOwners(next, noOwners);
  }
  yield;
  try {
    const after = yield* ownersAfterUpdate(writing, { owners: before, live: old, next: bare });
    yield;
    return yield* withOwners(next, after);
  } catch (error) {
    if (!(error instanceof UnidentifiedItem || error instanceof NotInVersion)) throw error;
    return yield* withOwners(next, noOwners);
  }
}

/** What keeps an object from being compared field by field, in Kubernetes' words. */
export function* misfit(schema: Schema, object: JsonObject): Steps<string | undefined> {
  if (isBuiltIn(schema) && !mayLackKeys(schema)) return undefined;
  const errors = yield* checkShape(shapeOfObject(schema), object, { duplicates: true });
  return errors.length === 0 ? undefined : joinErrors(errors);
}

/** Owners that the client sent count only on the main resource, and if they are valid. */
function* ownersBefore(live: JsonObject | undefined, next: JsonObject, isSubresource: boolean): Steps<Owners> {
  const kept = yield* storedOwners(live);
  const sent = managedFieldsOf(next);
  if (isSubresource || sent === undefined || same(sent, live && managedFieldsOf(live))) return kept;
  if (isReset(sent)) return noOwners;
  try {
    const owners = yield* readManagedFields(sent);
    return owners.size === 0 ? kept : owners;
  } catch {
    return kept;
  }
}

/** The owners an object came from the store with; none if they cannot be read. */
export function* storedOwners(object: JsonObject | undefined): Steps<Owners> {
  try {
    return object === undefined ? noOwners : yield* readManagedFields(managedFieldsOf(object), { stored: true });
  } catch {
    return noOwners;
  }
}

const metadataOf = (object: JsonObject): JsonObject => {
  const metadata = object['metadata'];
  return isObject(metadata) ? metadata : {};
};
const managedFieldsOf = (object: JsonObject): Json | undefined => metadataOf(object)['managedFields'];
export const hasUid = (object: JsonObject | undefined): boolean =>
  object !== undefined && Boolean(metadataOf(object)['uid']);

export function withoutOwners(object: JsonObject): JsonObject {
  const metadata = metadataOf(object);
  if (!Object.hasOwn(metadata, 'managedFields')) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}

export function* withOwners(object: JsonObject, owners: Owners): Steps<ApiObject> {
  if (owners.size === 0) return withoutOwners(object) as unknown as ApiObject;
  const managedFields = (yield* writeManagedFields(owners)) as unknown as Json;
  return { ...object, metadata: { ...metadataOf(object), managedFields } } as unknown as ApiObject;
}

/** Fields that were added or got another value, and those that went. */
interface Changes {
  readonly written: FieldSet;
  readonly removed: FieldSet;
}

/** The object before a write in versions of its owners: to convert it may cost as much as it is long, and is done once. */
export class LiveVersions {
  readonly #writing: Writing;
  readonly #live: JsonObject;
  readonly #known = new Map<string, InVersion | undefined>();

  constructor(writing: Writing, live: JsonObject) {
    this.#writing = writing;
    this.#live = live;
  }

  /** As `inVersion`. */
  *in(apiVersion: string, attempt?: string): Steps<InVersion | undefined> {
    if (this.#known.has(apiVersion)) return this.#known.get(apiVersion);
    const found = yield* inVersion(this.#writing, this.#live, apiVersion, attempt);
    this.#known.set(apiVersion, found);
    return found;
  }
}

/** Compares two objects, once in each version that is asked for. */
export class Comparisons {
  readonly #writing: Writing;
  readonly #live: LiveVersions;
  readonly #next: JsonObject;
  readonly #known = new Map<string, Changes | undefined>();

  constructor(writing: Writing, { live, next }: { readonly live: LiveVersions; readonly next: JsonObject }) {
    this.#writing = writing;
    this.#live = live;
    this.#next = next;
  }

  /** What changed, in the version an owner names its fields in; undefined where there is no such version. */
  *in(apiVersion: string): Steps<Changes | undefined> {
    if (this.#known.has(apiVersion)) return this.#known.get(apiVersion);
    const writing = this.#writing;
    const before = yield* this.#live.in(apiVersion, 'failed to convert old object: ');
    const after = yield* inVersion(writing, this.#next, apiVersion, 'failed to convert new object: ');
    let found: Changes | undefined;
    if (before !== undefined && after !== undefined) {
      const compared = yield* compare(before.shape, before.object, after.object);
      // The main resource resets fields of its own version only, a subresource those of all.
      const resets = apiVersion === writing.apiVersion || writing.subresource !== undefined;
      const hidden = resets ? resetSet(writing.resetFields) : emptySet;
      const { added, modified, removed } = without(compared, hidden);
      found = { written: union(modified, added), removed };
    }
    this.#known.set(apiVersion, found);
    return found;
  }
}

/** There is no such object in an owner's version. */
export class NotInVersion extends Error {
  override readonly name = 'NotInVersion';
}

/** What Kubernetes says where a custom resource is to be converted to what is no version of its definition. */
export const noVersionOfKind = (apiVersion: string): string =>
  `request to convert CR to an invalid group/version: ${apiVersion}`;

interface InVersion {
  readonly object: JsonObject;
  readonly shape: Shape;
}

/**
 * The object in a version, and its shape there; undefined where nobody knows the version of a built-in kind.
 *
 * @throws NotInVersion where no group and version have such a name, and where a custom resource has no such version or
 * does not fit its schema; the message begins with `attempt`, which says what was to be converted.
 */
export function* inVersion(
  writing: Writing,
  object: JsonObject,
  apiVersion: string,
  attempt = '',
): Steps<InVersion | undefined> {
  if (apiVersion === writing.apiVersion) return { object, shape: shapeOfObject(writing.schema) };
  const wrong = groupVersionComplaint(apiVersion);
  if (wrong !== undefined) throw new NotInVersion(wrong);
  const converted = writing.versions?.convert(object, apiVersion);
  if (converted === undefined) {
    if (isBuiltIn(writing.schema)) return undefined;
    throw new NotInVersion(`${attempt}${noVersionOfKind(apiVersion)}`);
  }
  const shape = shapeOfObject(converted.schema);
  const errors = isBuiltIn(converted.schema) ? [] : yield* checkShape(shape, converted.object);
  if (errors.length > 0) throw new NotInVersion(`${attempt}${joinErrors(errors)}`);
  return { object: converted.object, shape };
}

/** Objects of built-in kinds have been decoded, and so fit their schema, but for keys that may be lacking. */
const isBuiltIn = ({ wire }: Schema): boolean => wire !== undefined;

const lackingKeys = new WeakMap<Schema, boolean>();

/** Whether a kind has a list whose items are told apart by members which are all left out when they are empty. */
function mayLackKeys(kind: Schema): boolean {
  const known = lackingKeys.get(kind) ?? hasKeylessItems(kind, new Set());
  lackingKeys.set(kind, known);
  return known;
}

/** `seen`: schemas may contain themselves. */
function hasKeylessItems(schema: Schema, seen: Set<Schema>): boolean {
  if (seen.has(schema)) return false;
  seen.add(schema);
  const { items, additionalProperties, properties, listType, listMapKeys = [] } = schema;
  const mayLack = (key: string): boolean => {
    const field = items?.properties?.get(key);
    return field !== undefined && field.default === undefined && omitsEmpty(field);
  };
  if (listType === 'map' && listMapKeys.every(mayLack)) return true;
  const parts = [...(properties?.values() ?? []), items, additionalProperties];
  return parts.some((part) => typeof part === 'object' && hasKeylessItems(part, seen));
}

const resetSets = new WeakMap<object, FieldSet>();
export function resetSet(resetFields: Writing['resetFields']): FieldSet {
  if (resetFields === undefined || resetFields.length === 0) return emptySet;
  const known = resetSets.get(resetFields);
  if (known !== undefined) return known;
  const set = setOf(...resetFields.map((path) => path.map(fieldElement)));
  resetSets.set(resetFields, set);
  return set;
}

/** The fields a write may own. */
export const ownable = (fields: FieldSet): FieldSet => difference(fields, neverOwned);

/** Owners after an update of `live` to `next`, both without managedFields. */
export function* ownersAfterUpdate(
  writing: Writing,
  { owners, live: stored, next }: { readonly owners: Owners; readonly live: JsonObject; readonly next: JsonObject },
): Steps<Owners> {
  const live = new LiveVersions(writing, stored);
  const comparisons = new Comparisons(writing, { live, next });
  const changes = yield* comparisons.in(writing.apiVersion);
  yield;
  const fitting = yield* fittingSchema(writing, live, owners);
  const kept = yield* afterChange(fitting, comparisons, { self: undefined, force: true });
  yield;
  const own = changes === undefined ? emptySet : ownable(changes.written);
  if (isEmpty(own)) return capped(kept);

  const { manager, apiVersion, subresource = '' } = writing;
  const bare = { manager, operation: 'Update', apiVersion, subresource } as const;
  const identity = identityOf(bare);
  const fields = union(own, kept.get(identity)?.fields ?? emptySet);
  // Behind those who wrote before.
  kept.delete(identity);
  kept.set(identity, { ...bare, time: timestamp(writing.now), fields });
  return capped(kept);
}

/**
 * Everybody's fields after a change: what was changed leaves all owners but `self`, what was removed likewise, owners
 * of nothing go.
 *
 * @throws FieldConflicts unless `force`, when somebody owns what was changed.
 */
export function* afterChange(
  owners: Owners,
  comparisons: Comparisons,
  { self, force }: { readonly self: string | undefined; readonly force: boolean },
): Steps<Map<string, Owner>> {
  const kept = new Map<string, Owner>();
  const conflicts: FieldConflict[] = [];
  for (const [identity, owner] of owners) {
    if (identity === self) {
      if (!isEmpty(owner.fields)) kept.set(identity, owner);
      continue;
    }
    const changes = yield* comparisons.in(owner.apiVersion);
    if (changes === undefined) continue;
    const taken = intersection(owner.fields, changes.written);
    yield;
    if (!isEmpty(taken) && !force) conflicts.push({ owner, fields: taken });
    const fields = difference(difference(owner.fields, taken), changes.removed);
    if (!isEmpty(fields)) kept.set(identity, fields === owner.fields ? owner : { ...owner, fields });
    yield;
  }
  if (conflicts.length > 0) throw new FieldConflicts(conflicts);
  return kept;
}

/** Owners whose fields are named as the schema of today names them: a list or map may have become atomic. */
export function* fittingSchema(writing: Writing, live: LiveVersions, owners: Owners): Steps<Owners> {
  if (isBuiltIn(writing.schema)) return owners;
  const fitting = new Map<string, Owner>();
  for (const [identity, owner] of owners) {
    const there = yield* live.in(owner.apiVersion);
    if (there === undefined) continue;
    const fields = reconcile(there.shape, owner.fields);
    fitting.set(identity, fields === owner.fields ? owner : { ...owner, fields });
  }
  return fitting;
}

/** At most ten update entries: the oldest of each version are joined into one. */
function capped(owners: Owners): Owners {
  if (owners.size <= maxUpdateManagers) return owners;
  const updates = [...owners].filter(([, { operation }]) => operation === 'Update');
  let count = updates.length;
  if (count <= maxUpdateManagers) return owners;
  updates.sort(([a, one], [b, other]) => seconds(one.time) - seconds(other.time) || compareText(a, b));

  const kept = new Map(owners);
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
    // Where the bucket's own turn comes, there has been no other for the first.
    const joins = identity === bucket ? first : identity;
    const into = kept.has(bucket) ? bucket : first;
    const fields = union(kept.get(joins)?.fields ?? emptySet, kept.get(into)?.fields ?? emptySet);
    kept.delete(joins);
    kept.delete(into);
    kept.set(bucket, { ...bare, time: owner.time, fields });
    count--;
  }
  return kept;
}

/**
 * `next`, with the times of `live` where nothing but times of managedFields tells the two apart, and whether the
 * version is named: such a write is none.
 */
export function* withoutIdleTimes(live: ApiObject, next: ApiObject): Steps<ApiObject> {
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
