import { type ApiError, untyped } from '../api/errors.js';
import { type ApiObject, asJson, groupVersion, type JsonObject } from '../api/object.js';
import { runSync, type Steps } from '../api/steps.js';
import { timestamp } from '../api/time.js';
import { sameInSteps } from '../schema/same.js';
import { checkShape, joinErrors } from './check.js';
import { Comparisons, LiveVersions, noVersionOfKind, resetFieldSet, VersionUnavailable } from './comparisons.js';
import { checkConfiguration, checkKind, checkOwnerless, withoutEntries } from './configuration-rules.js';
import { conflictError, FieldConflicts } from './conflicts.js';
import { recursiveDifference } from './field-set.js';
import { fieldSetOf } from './field-set-of.js';
import { lastAppliedFields, refreshLastApplied } from './last-applied.js';
import { UnidentifiedItem } from './list-items.js';
import { identityOf, type Owners } from './managed-fields.js';
import { merge } from './merge.js';
import { kindOf, objectName } from './object-name.js';
import { hasUid, storedOwners, withOwners, withoutOwners } from './object-owners.js';
import { ownableFields, ownersAfterUpdate, reconcileOwners, updateOwners } from './ownership.js';
import { objectOrElse, pruneFields } from './prune-fields.js';
import { schemaMismatch } from './schema-mismatch.js';
import { shapeOfObject } from './shape.js';
import type { ApplyContext } from './write-context.js';
import { zeroObject } from './zero-value.js';

/**
 * Server-side apply (KEP-555): merges a configuration into an object and removes the fields that the applier no longer
 * applies.
 */

export interface Applied {
  /** The object with its new managedFields; not yet decoded, defaulted or admitted. */
  readonly object: ApiObject;
  /** False if the object is unchanged except for its owners. */
  readonly changed: boolean;
}

/** The manager name of `kubectl apply`, which takes over the fields that client-side apply owned. */
const kubectl = 'kubectl';
const beforeFirstApply = 'before-first-apply';

/**
 * Applies a configuration, in steps.
 *
 * @throws ApiError 409 with the fields that other managers own, unless `force`; 400 for a configuration of another kind
 * or with managedFields; 500, as in Kubernetes, for a configuration that does not fit the schema.
 */
export function* applyConfiguration(applying: ApplyContext): Steps<Applied> {
  checkKind(applying);
  yield* checkOwnerless(applying);
  yield* checkConfiguration(applying);
  yield;
  try {
    const applied = yield* appliedAs({ ...applying, config: withoutEntries(applying.config) });
    if (applying.isScale && applied.changed) {
      throw unconvertedObject(applying.config, noVersionOfKind(groupVersion(applying.kind)));
    }
    return applied;
  } catch (error) {
    if (error instanceof UnidentifiedItem) throw unidentified(applying, error);
    if (error instanceof FieldConflicts) throw conflictError(error);
    if (error instanceof VersionUnavailable) throw untyped(error.message);
    throw error;
  }
}

/**
 * Returns the error for a list item without keys, which is in the live object, because the configuration has been
 * checked.
 */
function unidentified({ live, schema }: ApplyContext, { message }: UnidentifiedItem): ApiError {
  const stored = live === undefined ? {} : withoutOwners(asJson(live));
  const errors = runSync(checkShape(shapeOfObject(schema), stored, { duplicates: true }));
  return errors.length === 0
    ? untyped(`failed to merge config: ${message}`)
    : unreadableLive(stored, joinErrors(errors));
}

/** Returns the error for a stored object that does not fit its schema. */
const unreadableLive = (stored: JsonObject, message: string): ApiError =>
  untyped(`failed to create typed live object (${objectName(stored)}): ${message}`);

function* appliedAs(applying: ApplyContext): Steps<Applied> {
  const live = applying.live === undefined ? zeroObject(applying.schema) : withoutOwners(asJson(applying.live));
  const problem = yield* schemaMismatch(applying.schema, live);
  if (problem !== undefined) throw unreadableLive(live, problem);
  yield;
  const owners = yield* ownersBeforeApply(applying, live);
  yield;
  const applied = yield* inheriting(applying, live, (force) => apply(applying, live, owners, force));
  if (applying.manager !== kubectl) return applied;
  return { ...applied, object: refreshLastApplied(applied.object, applying.config) };
}

/**
 * Returns the owners before an apply. On the first apply to an object without owners, the existing fields are recorded
 * under a manager of their own.
 */
function* ownersBeforeApply(applying: ApplyContext, live: JsonObject): Steps<Owners> {
  const owners = yield* storedOwners(applying.live && asJson(applying.live));
  if (owners.size > 0 || !hasUid(applying.live && asJson(applying.live))) return owners;
  return yield* ownersAfterUpdate(
    { ...applying, manager: beforeFirstApply },
    { owners, live: zeroObject(applying.schema), next: live },
  );
}

/**
 * Lets kubectl overwrite, without force, the fields that still have the values that its client-side apply gave them.
 */
function* inheriting(
  applying: ApplyContext,
  live: JsonObject,
  act: (force: boolean) => Steps<Applied>,
): Steps<Applied> {
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

function* apply(applying: ApplyContext, live: JsonObject, stored: Owners, force: boolean): Steps<Applied> {
  const { config, schema, manager, apiVersion, subresource = '' } = applying;
  const shape = shapeOfObject(schema);
  const versions = new LiveVersions(applying, live);
  const fitting = yield* reconcileOwners(applying, versions, stored);
  yield;
  const bare = { manager, operation: 'Apply', apiVersion, subresource } as const;
  const identity = identityOf(bare);
  const previous = fitting.get(identity);
  const fields = recursiveDifference(yield* fieldSetOf(shape, config), resetFieldSet(applying.resetFields));
  const owners = new Map(fitting).set(identity, { ...bare, time: previous?.time, fields });
  yield;
  const merged = objectOrElse(yield* merge(shape, live, config), live);
  yield;
  const object = yield* pruneFields(applying, merged, owners, previous);
  yield;
  const managers = yield* updateOwners(owners, new Comparisons(applying, { live: versions, next: object }), {
    self: identity,
    force,
  });
  yield;
  const changed = !(yield* sameInSteps(live, object));
  const own = ownableFields(fields);
  yield;
  if (own.size === 0) managers.delete(identity);
  else managers.set(identity, { ...bare, time: changed ? timestamp(applying.now) : previous?.time, fields: own });
  return { object: yield* withOwners(changed ? object : live, managers), changed };
}

/** Returns the error for an apply result that does not fit the kind's Go type. `message` is the text of Go's converter. */
export const unconvertible = (config: JsonObject, message: string): ApiError =>
  unconvertedObject(config, `unable to convert unstructured object to ${kindOf(config)}: ${message}`);

const unconvertedObject = (config: JsonObject, message: string): ApiError =>
  untyped(`failed to convert new object (${objectName(config)}) to proper version: ${message}`);
