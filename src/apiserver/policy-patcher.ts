import { MutationFailed, type PolicyPatcher } from '../admission/policies/policy-patcher.js';
import type { ResourceKind } from '../admission/webhooks/versioned-attributes.js';
import { ApiError, internalError } from '../api/errors.js';
import { quote } from '../api/go-text.js';
import type { ParsedJson } from '../api/json-exact.js';
import { messageOf } from '../api/message-of.js';
import {
  type ApiObject,
  asJson,
  groupVersion,
  isList,
  type Json,
  type JsonObject,
  shortVersion,
} from '../api/object.js';
import { maxRequestBytes } from '../api/request-size.js';
import type { Steps } from '../api/steps.js';
import { unnamedScheme } from '../api/unregistered-kind.js';
import { atomicPaths } from '../apply/atomic-paths.js';
import { checkShape, joinErrors } from '../apply/check.js';
import { noVersionOfKind } from '../apply/comparisons.js';
import { UnidentifiedItem } from '../apply/list-items.js';
import { merge } from '../apply/merge.js';
import { shapeOfObject } from '../apply/shape.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import { runInTurns } from '../runtime/turn-taking.js';
import { typeMetaOf } from '../schema/decode.js';
import { DecodeError } from '../schema/decode-error.js';
import { orderMembers } from '../schema/encode.js';
import type { Catalogue, Served } from './catalogue.js';
import { NoConversion } from './kind-mismatch.js';
import { checkGroup, decodePatched, definitionLookup } from './object-interfaces.js';
import { receivedPatch } from './patch/json.js';
import { DoesNotApply } from './patch/json-patching.js';
import { converterMessage, convertUnstructured as throughConverter } from './patch/unstructured.js';
import { decodeResult } from './verbs/patch.js';

/**
 * Returns an object that applies the changes of mutating admission policies, by the schemas of the served resources.
 */
export function policyPatcher(catalogue: Catalogue): PolicyPatcher {
  const shapes = definitionLookup(catalogue);
  const definitionOf = (as: ResourceKind): ResourceDefinition => {
    const definition = shapes.objectDefinitionOf(as);
    if (definition === undefined) throw internalError('the kind is no longer served');
    return definition;
  };
  /**
   * Checks that the result can be converted to the version of the request. Kubernetes converts objects with a Go type
   * back to that version after each change, which can fail.
   */
  const checkVersion = ({ kind, resource }: ResourceKind, original: ResourceKind): void => {
    const isCustom = shapes.definitionOf(resource)?.reader !== undefined;
    const version = groupVersion(original.kind);
    if (isCustom && groupVersion(kind) !== groupVersion(resource)) {
      throw new MutationFailed(noVersionOfKind(version));
    }
    if (isCustom || groupVersion(kind) === version) return;
    throw unsuitable(kind, version);
  };
  return {
    async applyJsonPatch(object, { as, given }, operations) {
      const definition = definitionOf(as);
      const before = orderMembers(definition, asJson(object));
      let patched: { readonly result: JsonObject; readonly text: ParsedJson };
      try {
        patched = await runInTurns(receivedPatch({ operations }).apply(before));
      } catch (error) {
        if (error instanceof DecodeError) throw internalError(error.message, error);
        if (!(error instanceof DoesNotApply)) throw error;
        if (error.isTest) return object;
        throw new MutationFailed(`JSON Patch: ${error.message}`, { cause: error });
      }
      refuseLarger(patched.result);
      const changed = await runInTurns(decoded(catalogue.current(), definition, patched, groupVersion(given.kind)));
      checkVersion(as, given);
      return changed;
    },

    async applyConfiguration(object, { as, given }, configuration) {
      const definition = definitionOf(as);
      const before = orderMembers(definition, asJson(object));
      // The type converter finds no schema for kinds that only subresources have.
      const isNamed = groupVersion(as.kind) === groupVersion(as.resource);
      const result = await runInTurns(mergedInto(before, isNamed ? definition : undefined, configuration));
      refuseLarger(result);
      const changed = await runInTurns(converted(definition, result));
      checkVersion(as, given);
      return changed;
    },
  };
}

const unsuitable = (
  { version, kind }: Pick<ResourceKind['kind'], 'version' | 'kind'>,
  target: string,
): MutationFailed =>
  new MutationFailed(
    `${version}.${kind} is not suitable for converting to ${quote(target)} in scheme ${quote(unnamedScheme)}`,
  );

/** Decodes the result of a patch as an object of the kind. Throws ApiError 500 or MutationFailed. */
function* decoded(
  served: Served,
  definition: ResourceDefinition,
  { result, text }: { readonly result: JsonObject; readonly text: ParsedJson },
  version: string,
): Steps<ApiObject> {
  try {
    if (definition.reader !== undefined) checkGroup(definition, result);
    const parsed = yield* decodePatched(served, definition, result, text);
    if (parsed.strict.length > 0) throw new DecodeError(`strict decoding error: ${parsed.strict.join(', ')}`);
    return parsed.object;
  } catch (error) {
    const message = messageOf(error);
    // A changed kind is noticed only when the result is converted back to the version of the request.
    const isOther = error instanceof ApiError || error instanceof NoConversion;
    if (isOther && definition.reader === undefined) {
      const { apiVersion, kind } = typeMetaOf(result);
      if (apiVersion !== version) throw unsuitable({ version: shortVersion(apiVersion), kind }, version);
    }
    if (isOther || error instanceof DecodeError) {
      throw internalError(isOther ? `failed to convert object: ${message}` : message, error);
    }
    throw error;
  }
}

/** Merges as server-side apply does, but without field owners. Refuses to replace atomic lists, maps and structs. */
function* mergedInto(
  original: JsonObject,
  definition: ResourceDefinition | undefined,
  written: JsonObject,
): Steps<JsonObject> {
  const configuration: JsonObject = {
    ...written,
    apiVersion: original['apiVersion'] ?? '',
    kind: original['kind'] ?? '',
  };
  const failed = (message: string): MutationFailed => new MutationFailed(`error applying patch: ${message}`);
  const untyped = (message: string): MutationFailed =>
    failed(`failed to convert patch object to typed object: ${message}`);
  if (definition === undefined)
    throw untyped(`no corresponding type for ${configuration['apiVersion']}, Kind=${configuration['kind']}`);
  const shape = shapeOfObject(definition.schema);
  const wrong = yield* checkShape(shape, configuration);
  if (wrong.length > 0) throw untyped(joinErrors(wrong));
  const atomics = atomicPaths(shape, configuration);
  if (atomics.length > 0) {
    throw failed(`invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`);
  }
  const unfit = yield* checkShape(shape, original, { duplicates: true });
  if (unfit.length > 0) throw failed(`failed to convert original object to typed object: ${joinErrors(unfit)}`);
  try {
    return (yield* merge(shape, original, configuration)) as JsonObject;
  } catch (error) {
    throw error instanceof UnidentifiedItem ? failed(`failed to merge patch: ${error.message}`) : error;
  }
}

/**
 * Decodes the merged result. A built-in kind goes through the converter of Go for unstructured objects; errors are
 * failures of the policy.
 */
function* converted(definition: ResourceDefinition, result: JsonObject): Steps<ApiObject> {
  const failed = (message: string): MutationFailed =>
    new MutationFailed(`unable to convert unstructured object to ${goKind(definition)}: ${message}`);
  try {
    if (definition.reader !== undefined) return (yield* decodeResult(definition, result, { isGenerated: true })).object;
    const fitting = yield* throughConverter(definition.schema, result, 'int');
    if (fitting.problem !== undefined) throw failed(fitting.problem);
    return (yield* decodeResult(definition, fitting.value, { isGenerated: true })).object;
  } catch (error) {
    throw error instanceof DecodeError ? failed(converterMessage(error)) : error;
  }
}

const goKind = (definition: ResourceDefinition): string =>
  `${definition.group === '' ? '/' : ''}${groupVersion(definition)}, Kind=${definition.kind}`;

/** Whether the JSON of a value is longer than this many bytes. The size is a lower bound. */
function isLongerThan(bytes: number, value: Json): boolean {
  let remaining = bytes;
  const open: Json[] = [value];
  for (let next = open.pop(); next !== undefined && remaining >= 0; next = open.pop()) {
    remaining -= typeof next === 'string' ? next.length + 2 : 1;
    if (typeof next !== 'object' || next === null) continue;
    for (const [name, inner] of Object.entries(next)) {
      remaining -= isList(next) ? 1 : name.length + 4;
      open.push(inner);
    }
  }
  return remaining < 0;
}

/** Throws MutationFailed for a result that is too large. Without this limit each of many mutations could double the object. */
function refuseLarger(result: JsonObject): void {
  if (isLongerThan(maxRequestBytes, result)) {
    throw new MutationFailed(`the changed object would be larger than ${maxRequestBytes} bytes`);
  }
}
