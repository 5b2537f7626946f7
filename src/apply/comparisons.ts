import { groupVersionComplaint, type JsonObject } from '../api/object.js';
import type { Steps } from '../api/steps.js';
import { checkShape, joinErrors } from './check.js';
import { compare, without } from './compare.js';
import { emptySet, type FieldSet, setOf, union } from './field-set.js';
import { fieldElement } from './path-element.js';
import { isBuiltIn } from './schema-mismatch.js';
import { type Shape, shapeOfObject } from './shape.js';
import type { WriteContext } from './write-context.js';

/** Compares objects before and after a write, in each version that an owner uses. */

/** The fields that were added or modified, and those that were removed. */
interface Changes {
  readonly written: FieldSet;
  readonly removed: FieldSet;
}

/** The object before a write, converted once to each version that an owner uses. */
export class LiveVersions {
  readonly #writing: WriteContext;
  readonly #live: JsonObject;
  readonly #known = new Map<string, InVersion | undefined>();

  constructor(writing: WriteContext, live: JsonObject) {
    this.#writing = writing;
    this.#live = live;
  }

  /** Returns the object in a version; see `inVersion`. */
  *in(apiVersion: string, attempt?: string): Steps<InVersion | undefined> {
    if (this.#known.has(apiVersion)) return this.#known.get(apiVersion);
    const found = yield* inVersion(this.#writing, this.#live, apiVersion, attempt);
    this.#known.set(apiVersion, found);
    return found;
  }
}

/** Compares two objects, once in each requested version. */
export class Comparisons {
  readonly #writing: WriteContext;
  readonly #live: LiveVersions;
  readonly #next: JsonObject;
  readonly #known = new Map<string, Changes | undefined>();

  constructor(writing: WriteContext, { live, next }: { readonly live: LiveVersions; readonly next: JsonObject }) {
    this.#writing = writing;
    this.#live = live;
    this.#next = next;
  }

  /** Returns the changes in a version; undefined if there is no such version. */
  *in(apiVersion: string): Steps<Changes | undefined> {
    if (this.#known.has(apiVersion)) return this.#known.get(apiVersion);
    const writing = this.#writing;
    const before = yield* this.#live.in(apiVersion, 'failed to convert old object: ');
    const after = yield* inVersion(writing, this.#next, apiVersion, 'failed to convert new object: ');
    let found: Changes | undefined;
    if (before !== undefined && after !== undefined) {
      const compared = yield* compare(before.shape, before.object, after.object);
      // Writes to the main resource reset fields in its own version only, writes to a subresource in all versions.
      const resets = apiVersion === writing.apiVersion || writing.subresource !== undefined;
      const hidden = resets ? resetFieldSet(writing.resetFields) : emptySet;
      const { added, modified, removed } = without(compared, hidden);
      found = { written: union(modified, added), removed };
    }
    this.#known.set(apiVersion, found);
    return found;
  }
}

/** Thrown if the object is not available in the version of an owner. */
export class VersionUnavailable extends Error {
  override readonly name = 'VersionUnavailable';
}

/** Returns Kubernetes' error for converting a custom resource to a version that its definition does not have. */
export const noVersionOfKind = (apiVersion: string): string =>
  `request to convert CR to an invalid group/version: ${apiVersion}`;

interface InVersion {
  readonly object: JsonObject;
  readonly shape: Shape;
}

/**
 * Returns the object in a version, and its shape there; undefined for an unknown version of a built-in kind.
 *
 * @throws VersionUnavailable for an invalid apiVersion, and for a custom resource that has no such version or does not
 * fit its schema; the message begins with `attempt`, which says what could not be converted.
 */
export function* inVersion(
  writing: WriteContext,
  object: JsonObject,
  apiVersion: string,
  attempt = '',
): Steps<InVersion | undefined> {
  if (apiVersion === writing.apiVersion) return { object, shape: shapeOfObject(writing.schema) };
  const wrong = groupVersionComplaint(apiVersion);
  if (wrong !== undefined) throw new VersionUnavailable(wrong);
  const converted = writing.versions?.convert(object, apiVersion);
  if (converted === undefined) {
    if (isBuiltIn(writing.schema)) return undefined;
    throw new VersionUnavailable(`${attempt}${noVersionOfKind(apiVersion)}`);
  }
  const shape = shapeOfObject(converted.schema);
  const errors = isBuiltIn(converted.schema) ? [] : yield* checkShape(shape, converted.object);
  if (errors.length > 0) throw new VersionUnavailable(`${attempt}${joinErrors(errors)}`);
  return { object: converted.object, shape };
}

const resetSets = new WeakMap<object, FieldSet>();
export function resetFieldSet(resetFields: WriteContext['resetFields']): FieldSet {
  if (resetFields === undefined || resetFields.length === 0) return emptySet;
  const known = resetSets.get(resetFields);
  if (known !== undefined) return known;
  const set = setOf(...resetFields.map((path) => path.map(fieldElement)));
  resetSets.set(resetFields, set);
  return set;
}
