import { type ApiError, badRequest, untyped } from '../api/errors.js';
import { canonicalTime } from '../api/go-time.js';
import { cannotUnmarshal } from '../api/json-exact.js';
import { asJson, groupVersion, isList, isObject, type Json, type JsonObject } from '../api/object.js';
import type { Steps } from '../api/steps.js';
import { checkShape, joinErrors } from './check.js';
import { noVersionOfKind } from './comparisons.js';
import { kindOf, kindText, objectName } from './object-name.js';
import { managedFieldsOf, withoutOwners } from './object-owners.js';
import { shapeOfObject } from './shape.js';
import type { ApplyContext } from './write-context.js';

/** Checks a configuration and the object that it is applied to. */

/**
 * Checks an object without owners. As in Kubernetes, which first determines an owner for the existing fields, this
 * precedes all other checks except that of the kind.
 */
export function* checkOwnerless({ live, schema, kind, isScale }: ApplyContext): Steps<void> {
  if (live === undefined || (live.metadata.managedFields ?? []).length > 0) return;
  const unowned = (message: string): ApiError => untyped(`failed to create manager for existing fields: ${message}`);
  if (isScale) {
    const unconverted = `failed to convert live object (/; ${kindText(kind)}) to proper version`;
    throw unowned(`${unconverted}: ${noVersionOfKind(groupVersion(kind))}`);
  }
  const stored = withoutOwners(asJson(live));
  const errors = yield* checkShape(shapeOfObject(schema), stored, { duplicates: true });
  if (errors.length === 0) return;
  throw unowned(`failed to convert new object (${objectName(stored)}) to smd typed: ${joinErrors(errors)}`);
}

/** Throws for a configuration of another kind. */
export function checkKind({ config, kind }: ApplyContext): void {
  const configKind = kindOf(config);
  if (configKind !== kindText(kind)) throw badRequest(`invalid object type: ${configKind}`);
}

/** Throws for a configuration that names owners, or does not fit the schema. */
export function* checkConfiguration({ config, schema }: ApplyContext): Steps<void> {
  const entries = entriesOf(config);
  // Unreadable entries count as none.
  if (entries?.every(isReadable)) throw badRequest('metadata.managedFields must be nil');
  const errors = yield* checkShape(shapeOfObject(schema), config);
  if (errors.length > 0) {
    throw untyped(`failed to create typed patch object (${objectName(config)}): ${joinErrors(errors)}`);
  }
}

/**
 * Returns the configuration without unreadable managedFields; a value that is no list is kept and merged like
 * everything else.
 */
export const withoutEntries = (config: JsonObject): JsonObject =>
  entriesOf(config) === undefined ? config : withoutOwners(config);

/** Returns the managedFields entries of a configuration, which must not have any. */
function entriesOf(config: JsonObject): readonly Json[] | undefined {
  const entries = managedFieldsOf(config);
  return isList(entries) ? entries : undefined;
}

function isReadable(entry: Json): boolean {
  if (!isObject(entry) || wrongTime(entry) !== undefined) return false;
  return entryTexts.every((name) => typeof (entry[name] ?? '') === 'string');
}

/** Returns why the time of an entry is invalid, in the words of Go's converter; undefined if it is valid. */
function wrongTime(entry: Json): string | undefined {
  const time = (isObject(entry) ? entry['time'] : undefined) ?? null;
  if (time === null) return undefined;
  if (typeof time !== 'string') return cannotUnmarshal(time, 'string');
  const read = canonicalTime(time);
  return typeof read === 'object' ? read?.wrong : undefined;
}

/**
 * Returns the error in the owners that an applied configuration names; undefined if there is none. Custom resources are
 * exempt, because they are not converted.
 */
export const wrongOwners = (config: JsonObject): string | undefined =>
  entriesOf(config)
    ?.map(wrongTime)
    .find((problem) => problem !== undefined);

const entryTexts = ['manager', 'operation', 'apiVersion', 'fieldsType', 'subresource'];
