import { type ApiError, badRequest, untyped } from '../api/errors.js';
import { canonicalTime } from '../api/go-time.js';
import { cannotUnmarshal } from '../api/json-exact.js';
import { type ApiObject, groupVersion, isList, isObject, type Json, type JsonObject } from '../api/object.js';
import { atOnce, type Steps } from '../api/steps.js';
import { timestamp } from '../api/time.js';
import { sameInSteps } from '../schema/same.js';
import { checkShape, joinErrors } from './check.js';
import { conflictError, FieldConflicts } from './conflicts.js';
import { difference, emptySet, type FieldSet, intersection, recursiveDifference, union } from './field-set.js';
import { fieldSetOf, withNamedMembers } from './field-set-of.js';
import { asJson } from './json-value.js';
import { lastAppliedFields, refreshLastApplied } from './last-applied.js';
import { UnidentifiedItem } from './list-items.js';
import { identityOf, type Owner, type Owners } from './managed-fields.js';
import { merge } from './merge.js';
import {
  afterChange,
  Comparisons,
  fittingSchema,
  hasUid,
  inVersion,
  LiveVersions,
  misfit,
  NotInVersion,
  noVersionOfKind,
  ownable,
  ownersAfterUpdate,
  resetSet,
  storedOwners,
  type Writing,
  withOwners,
  withoutOwners,
} from './ownership.js';
import { remove } from './remove.js';
import { shapeOfObject } from './shape.js';
import { zeroObject } from './zero-value.js';

/** Server-side apply (KEP-555): a configuration merged into an object, fields given up taken out again. */

export interface Applying extends Writing {
  /** What is stored, as the version of the endpoint prints it; absent when the apply creates. */
  readonly live: ApiObject | undefined;
  /** The configuration as sent. */
  readonly config: JsonObject;
  /** Of the endpoint. */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  /** Take fields that others own. */
  readonly force: boolean;
  /**
   * It is applied to a custom resource's Scale. Kubernetes has no fields of Scales for owners to be found by, nor can it
   * convert a Scale that an apply changed: it refuses both.
   */
  readonly isScale?: boolean;
}

export interface Applied {
  /** With its new owners; not yet decoded, defaulted or admitted. */
  readonly object: ApiObject;
  /** False: the value is the live one, at most owners changed. */
  readonly changed: boolean;
}

/** The manager that kubectl applies as; it inherits what client-side apply wrote. */
const kubectl = 'kubectl';
const beforeFirstApply = 'before-first-apply';
const pruning = 'failed to prune fields: ';

/**
 * Applies a configuration, step by step.
 *
 * @throws ApiError 409 with the fields that others own, unless `force`; 400 for a configuration of another kind or
 * with managedFields; 500 for one that does not fit the schema (as Kubernetes answers it).
 */
export function* applyConfiguration(applying: Applying): Steps<Applied> {
  checkKind(applying);
  yield* checkOwnerless(applying);
  yield* checkConfiguration(applying);
  yield;
  try {
    const applied = yield* appliedAs({ ...applying, config: withoutEntries(applying.config) });
    if (applying.isScale && applied.changed) {
      throw improper(applying.config, noVersionOfKind(groupVersion(applying.kind)));
    }
    return applied;
  } catch (error) {
    if (error instanceof UnidentifiedItem) throw unidentified(applying, error);
    if (error instanceof FieldConflicts) throw conflictError(error);
    if (error instanceof NotInVersion) throw untyped(error.message);
    throw error;
  }
}

/** An item without identity comes from the live object: the configuration was checked before. */
function unidentified({ live, schema }: Applying, { message }: UnidentifiedItem): ApiError {
  const stored = live === undefined ? {} : withoutOwners(asJson(live));
  const errors = atOnce(checkShape(shapeOfObject(schema), stored, { duplicates: true }));
  return errors.length === 0
    ? untyped(`failed to merge config: ${message}`)
    : unreadableLive(stored, joinErrors(errors));
}

/** The stored object does not fit its schema. */
const unreadableLive = (stored: JsonObject, why: string): ApiError =>
  untyped(`failed to create typed live object (${objectName(stored)}): ${why}`);

/** Where nobody owns anything, an owner of what is there is looked for before all but the kind. */
function* checkOwnerless({ live, schema, kind, isScale }: Applying): Steps<void> {
  if (live === undefined || (live.metadata.managedFields ?? []).length > 0) return;
  const unowned = (why: string): ApiError => untyped(`failed to create manager for existing fields: ${why}`);
  if (isScale) {
    const unconverted = `failed to convert live object (/; ${kindText(kind)}) to proper version`;
    throw unowned(`${unconverted}: ${noVersionOfKind(groupVersion(kind))}`);
  }
  const stored = withoutOwners(asJson(live));
  const errors = yield* checkShape(shapeOfObject(schema), stored, { duplicates: true });
  if (errors.length === 0) return;
  throw unowned(`failed to convert new object (${objectName(stored)}) to smd typed: ${joinErrors(errors)}`);
}

function checkKind({ config, kind }: Applying): void {
  const given = kindOf(config);
  if (given !== kindText(kind)) throw badRequest(`invalid object type: ${given}`);
}

function* checkConfiguration({ config, schema }: Applying): Steps<void> {
  const entries = entriesOf(config);
  // Entries that cannot be read count as none.
  if (entries?.every(isReadable)) throw badRequest('metadata.managedFields must be nil');
  const errors = yield* checkShape(shapeOfObject(schema), config);
  if (errors.length > 0) {
    throw untyped(`failed to create typed patch object (${objectName(config)}): ${joinErrors(errors)}`);
  }
}

/** Without owners that cannot be read. That there are to be none is merged like everything else. */
const withoutEntries = (config: JsonObject): JsonObject =>
  entriesOf(config) === undefined ? config : withoutOwners(config);

/** The owners that a configuration names, which it must not. */
function entriesOf(config: JsonObject): readonly Json[] | undefined {
  const entries = isObject(config['metadata']) ? config['metadata']['managedFields'] : undefined;
  return isList(entries) ? entries : undefined;
}

function isReadable(entry: Json): boolean {
  if (!isObject(entry) || wrongTime(entry) !== undefined) return false;
  return entryTexts.every((name) => typeof (entry[name] ?? '') === 'string');
}

/** What is wrong with the time of an entry, in the words of Go's converter. */
function wrongTime(entry: Json): string | undefined {
  const time = (isObject(entry) ? entry['time'] : undefined) ?? null;
  if (time === null) return undefined;
  if (typeof time !== 'string') return cannotUnmarshal(time, 'string');
  const read = canonicalTime(time);
  return typeof read === 'object' ? read?.wrong : undefined;
}

/** What is wrong with the owners that an applied configuration names. Custom resources are not converted, and bear it. */
export const wrongOwners = (config: JsonObject): string | undefined =>
  entriesOf(config)
    ?.map(wrongTime)
    .find((why) => why !== undefined);

const entryTexts = ['manager', 'operation', 'apiVersion', 'fieldsType', 'subresource'];

const kindText = ({ group, version, kind }: Applying['kind']): string => `${group}/${version}, Kind=${kind}`;

function kindOf(config: JsonObject): string {
  const apiVersion = textOf(config['apiVersion']);
  const parts = apiVersion.split('/');
  if (parts.length > 2) return '/, Kind=';
  const [group = '', version = ''] = parts.length === 2 ? parts : ['', apiVersion];
  return kindText({ group, version, kind: textOf(config['kind']) });
}

/** As errors call an object: `<namespace>/<name>; <group>/<version>, Kind=<kind>`. */
function objectName(config: JsonObject): string {
  const metadata = isObject(config['metadata']) ? config['metadata'] : {};
  return `${textOf(metadata['namespace'])}/${textOf(metadata['name'])}; ${kindOf(config)}`;
}
const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

function* appliedAs(applying: Applying): Steps<Applied> {
  const live = applying.live === undefined ? zeroObject(applying.schema) : withoutOwners(asJson(applying.live));
  const problem = yield* misfit(applying.schema, live);
  if (problem !== undefined) throw unreadableLive(live, problem);
  yield;
  const owners = yield* ownersBeforeApply(applying, live);
  yield;
  const applied = yield* inheriting(applying, live, (force) => apply(applying, live, owners, force));
  if (applying.manager !== kubectl) return applied;
  return { ...applied, object: refreshLastApplied(applied.object, applying.config) };
}

/** The first apply to an object without owners books what is there to a manager of its own. */
function* ownersBeforeApply(applying: Applying, live: JsonObject): Steps<Owners> {
  const owners = yield* storedOwners(applying.live && asJson(applying.live));
  if (owners.size > 0 || !hasUid(applying.live && asJson(applying.live))) return owners;
  return yield* ownersAfterUpdate(
    { ...applying, manager: beforeFirstApply },
    { owners, live: zeroObject(applying.schema), next: live },
  );
}

/** kubectl may overwrite, without force, fields that still are as its client-side apply left them. */
function* inheriting(applying: Applying, live: JsonObject, act: (force: boolean) => Steps<Applied>): Steps<Applied> {
  try {
    return yield* act(applying.force);
  } catch (error) {
    if (!(error instanceof FieldConflicts) || applying.manager !== kubectl) throw error;
    const inherited = lastAppliedFields(live, shapeOfObject(applying.schema), groupVersion(applying.kind));
    if (inherited === undefined) throw error;
    const remaining = error.without(inherited);
    if (remaining !== undefined) throw remaining;
    return yield* act(true);
  }
}

function* apply(applying: Applying, live: JsonObject, stored: Owners, force: boolean): Steps<Applied> {
  const { config, schema, manager, apiVersion, subresource = '' } = applying;
  const shape = shapeOfObject(schema);
  const versions = new LiveVersions(applying, live);
  const fitting = yield* fittingSchema(applying, versions, stored);
  yield;
  const bare = { manager, operation: 'Apply', apiVersion, subresource } as const;
  const identity = identityOf(bare);
  const previous = fitting.get(identity);
  const fields = recursiveDifference(yield* fieldSetOf(shape, config), resetSet(applying.resetFields));
  const owners = new Map(fitting).set(identity, { ...bare, time: previous?.time, fields });
  yield;
  const merged = objectOr(yield* merge(shape, live, config), live);
  yield;
  const object = yield* pruned(applying, merged, owners, previous);
  yield;
  const kept = yield* afterChange(owners, new Comparisons(applying, { live: versions, next: object }), {
    self: identity,
    force,
  });
  yield;
  const changed = !(yield* sameInSteps(live, object));
  const own = ownable(fields);
  yield;
  if (own.size === 0) kept.delete(identity);
  else kept.set(identity, { ...bare, time: changed ? timestamp(applying.now) : previous?.time, fields: own });
  return { object: yield* withOwners(changed ? object : live, kept), changed };
}

const objectOr = (value: Json, otherwise: JsonObject): JsonObject => (isObject(value) ? value : otherwise);

/** Takes out what the applier owned, does not apply any more and nobody else owns. `owners` has what is applied now. */
function* pruned(writing: Writing, merged: JsonObject, owners: Owners, previous: Owner | undefined): Steps<JsonObject> {
  if (previous === undefined || previous.fields.size === 0 || isAppliedAgain(previous, owners)) return merged;
  const attempt = `${pruning}failed to convert merged object to last applied version: `;
  const at = yield* inVersion(writing, merged, previous.apiVersion, attempt);
  if (at === undefined) return merged;
  const last = withNamedMembers(previous.fields, at.shape);
  const bare = objectOr(remove(at.shape, at.object, last), {});
  yield;
  const withOwned = yield* addBackOwned(writing, at.object, bare, previous.apiVersion, owners);
  yield;
  const mergedFields = withNamedMembers(yield* fieldSetOf(at.shape, at.object), at.shape);
  yield;
  const leftFields = withNamedMembers(yield* fieldSetOf(at.shape, withOwned), at.shape);
  yield;
  const gone = intersection(difference(mergedFields, leftFields), last);
  yield;
  const left = objectOr(remove(at.shape, at.object, gone), {});
  if (previous.apiVersion === writing.apiVersion) return left;
  return writing.versions?.convert(left, writing.apiVersion)?.object ?? left;
}

/**
 * Whether everything that an applier owned is among what it applies now, and nobody wrote another version: then nothing
 * is to be taken out, and there is no conversion that could fail.
 */
function isAppliedAgain(previous: Owner, owners: Owners): boolean {
  for (const { apiVersion } of owners.values()) if (apiVersion !== previous.apiVersion) return false;
  const applied = owners.get(identityOf(previous))?.fields ?? emptySet;
  return difference(previous.fields, applied).size === 0;
}

/** Puts back what somebody owns, version by version, in the version that `bare` is in. */
function* addBackOwned(
  writing: Writing,
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
  let left = bare;
  if (first !== undefined)
    left = yield* addBack(writing, { merged, bare: left, in: apiVersion, apiVersion, owned: first });
  for (const [version, owned] of ownedIn) {
    left = yield* addBack(writing, { merged, bare: left, in: apiVersion, apiVersion: version, owned });
  }
  return left;
}

function* addBack(
  writing: Writing,
  given: {
    readonly merged: JsonObject;
    readonly bare: JsonObject;
    /** Version of both. */
    readonly in: string;
    /** Version that `owned` is in. */
    readonly apiVersion: string;
    readonly owned: FieldSet;
  },
): Steps<JsonObject> {
  const from = { ...writing, apiVersion: given.in, schema: schemaIn(writing, given.merged, given.in) };
  const attempt = (what: string): string =>
    `${pruning}failed add back owned items: failed to convert ${what} object at version ${given.apiVersion}: `;
  const merged = yield* inVersion(from, given.merged, given.apiVersion, attempt('merged'));
  const bare = yield* inVersion(from, given.bare, given.apiVersion, attempt('pruned'));
  if (merged === undefined || bare === undefined) return given.bare;
  const { shape } = merged;
  yield;
  const mergedFields = withNamedMembers(yield* fieldSetOf(shape, merged.object), shape);
  yield;
  const bareFields = withNamedMembers(yield* fieldSetOf(shape, bare.object), shape);
  yield;
  const kept = union(bareFields, withNamedMembers(given.owned, shape));
  yield;
  const gone = difference(mergedFields, kept);
  yield;
  const left = objectOr(remove(shape, merged.object, gone), {});
  if (given.apiVersion === given.in) return left;
  return writing.versions?.convert(left, given.in)?.object ?? given.bare;
}

const schemaIn = (writing: Writing, object: JsonObject, apiVersion: string): Writing['schema'] =>
  apiVersion === writing.apiVersion
    ? writing.schema
    : (writing.versions?.convert(object, apiVersion)?.schema ?? writing.schema);

/** The answer when what an apply made does not fit the kind's Go type. `why` as Go's converter says it. */
export const unconvertible = (config: JsonObject, why: string): ApiError =>
  improper(config, `unable to convert unstructured object to ${kindOf(config)}: ${why}`);

const improper = (config: JsonObject, why: string): ApiError =>
  untyped(`failed to convert new object (${objectName(config)}) to proper version: ${why}`);
