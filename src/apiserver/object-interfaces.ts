import type { ObjectInterfaces, ResourceKind } from '../admission/webhooks/versioned-attributes.js';
import { internalError, untyped } from '../api/errors.js';
import type { ParsedJson } from '../api/json-exact.js';
import { readJson } from '../api/json-text.js';
import { type ApiObject, asJson, groupVersion, type JsonObject, type ResourceType } from '../api/object.js';
import { storagePrefix } from '../registry/keys.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import { subresourceKind, subresourceOf } from '../registry/subresource.js';
import { runInTurns } from '../runtime/turn-taking.js';
import { typeMetaOf } from '../schema/decode.js';
import { DecodeError } from '../schema/decode-error.js';
import { orderMembers } from '../schema/encode.js';
import { same } from '../schema/same.js';
import type { Catalogue, Served } from './catalogue.js';
import { checkTypeMeta, NoConversion } from './kind-mismatch.js';
import { readReceivedPatch } from './patch/json.js';
import { DoesNotApply } from './patch/json-patching.js';
import { checkKind, decodeResult } from './verbs/patch.js';

/** Finds the definitions of resources and of their objects, for admission. */
export interface DefinitionLookup {
  definitionOf(resource: ResourceKind['resource']): ResourceDefinition | undefined;
  /** Returns the definition by which an object is decoded: that of the resource, or of the kind of the subresource. */
  objectDefinitionOf(as: ResourceKind): ResourceDefinition | undefined;
}

export function definitionLookup(catalogue: Catalogue): DefinitionLookup {
  const definitionOf: DefinitionLookup['definitionOf'] = (resource) =>
    catalogue.current().find(resource.group, resource.version, resource.plural) ?? asDefinition(resource);
  return {
    definitionOf,
    objectDefinitionOf({ resource, kind }) {
      const definition = definitionOf(resource);
      if (definition === undefined || isKind(definition, kind)) return definition;
      for (const subresource of Object.values(definition.subresources ?? {})) {
        const other = subresourceKind(subresource);
        if (other !== undefined && isKind(other, kind)) {
          const { reader: _reader, codec: _codec, defaults: _defaults, ...rest } = definition;
          return { ...rest, ...other, origin: 'built-in' };
        }
      }
      return definition;
    },
  };
}

/** Implements ObjectInterfaces for the resources that the server serves. */
export function objectInterfaces(catalogue: Catalogue): ObjectInterfaces {
  const { definitionOf, objectDefinitionOf } = definitionLookup(catalogue);
  return {
    equivalents(resource, subresource) {
      const definition = definitionOf(resource);
      if (definition === undefined) return [];
      const all = definition.siblings?.() ?? (definition.origin === 'custom' ? [] : placedWith(catalogue, definition));
      return all
        .filter((other) => groupVersion(other) !== groupVersion(resource))
        .flatMap((other) => kindsOfSubresource(other, subresource));
    },

    async convert(object, { resource, kind }) {
      const definition = definitionOf(resource);
      const apiVersion = groupVersion(kind);
      const isCustom = definition?.reader !== undefined;
      if (definition === undefined || (isCustom ? !isKind(definition, kind) : object.kind !== kind.kind)) {
        throw untyped(`unable to convert to ${apiVersion}, Kind=${kind.kind}`);
      }
      if (object.apiVersion === apiVersion) return object;
      const { versions, codec } = definition;
      const json = asJson(object);
      if (isCustom) checkGroup(definition, json);
      if (versions?.convertRemotely !== undefined) {
        return (await versions.convertRemotely(json, apiVersion)) as unknown as ApiObject;
      }
      const known = isCustom ? (definition.siblings?.() ?? [definition]) : undefined;
      if (known !== undefined && !known.some((one) => groupVersion(one) === object.apiVersion)) {
        throw untyped(`request to convert CR from an invalid group/version: ${object.apiVersion}`);
      }
      // Built-in kinds with the same stored form are converted through it.
      const stored = catalogue.current().builtInKind(object.apiVersion, object.kind)?.codec?.store(object) ?? json;
      return { ...(isCustom ? object : (codec?.read(stored) ?? (stored as unknown as ApiObject))), apiVersion };
    },

    toJson(object, as) {
      const definition = objectDefinitionOf(as);
      return definition === undefined ? asJson(object) : orderMembers(definition, asJson(object));
    },

    readPatch(bytes) {
      const patch = readReceivedPatch(() => ({ ...readJson(bytes), bytes }));
      return {
        isEmpty: patch.isEmpty,
        async apply(object, as) {
          const definition = objectDefinitionOf(as);
          if (definition === undefined) throw internalError('the kind is no longer served');
          try {
            const before = orderMembers(definition, asJson(object));
            const { result, text } = await runInTurns(patch.apply(before));
            const patched = await runInTurns(decodePatched(catalogue.current(), definition, result, text));
            return { object: patched.object, isChanged: !same(patched.read, before) };
          } catch (error) {
            if (!(error instanceof DoesNotApply || error instanceof DecodeError)) throw error;
            // A result of another kind is decoded as that kind, and reported when it is converted back to the version
            // of the request.
            throw error instanceof NoConversion ? untyped(error.message) : internalError(error.message, error);
          }
        },
      };
    },

    hasFineTimes: (as) => objectDefinitionOf(as)?.reader === undefined,

    same: (a, b) => a === b || (a !== undefined && b !== undefined && same(a, b)),
  };
}

/** Decodes the result of a patch as an object of the kind. Throws DecodeError. */
export function* decodePatched(
  served: Served,
  definition: ResourceDefinition,
  result: JsonObject,
  text: ParsedJson,
): ReturnType<typeof decodeResult> {
  yield* checkKind(served, definition, result);
  return yield* decodeResult(definition, result, { isGenerated: true, text });
}

/** Throws ApiError 500 for a custom resource that a patch moved to another group, which cannot be converted back. */
export function checkGroup(definition: ResourceDefinition, result: JsonObject): void {
  const { apiVersion, kind } = checkTypeMeta(typeMetaOf(result));
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  if (kind === '' || group === definition.group) return;
  const target = JSON.stringify(groupVersion(definition));
  throw untyped(`${group}/${version}, Kind=${kind} is unstructured and is not suitable for converting to ${target}`);
}

/** Returns the resource itself if it is a definition, which is the usual case. */
const asDefinition = (resource: ResourceKind['resource']): ResourceDefinition | undefined =>
  'schema' in resource ? (resource as ResourceDefinition) : undefined;

const isKind = (type: Pick<ResourceType, 'group' | 'version' | 'kind'>, kind: ResourceKind['kind']): boolean =>
  type.group === kind.group && type.version === kind.version && type.kind === kind.kind;

const places = new WeakMap<ResourceDefinition, readonly ResourceDefinition[]>();

/** Returns the built-in definitions whose objects are stored at the same place. Their set never changes. */
function placedWith(catalogue: Catalogue, definition: ResourceDefinition): readonly ResourceDefinition[] {
  const known = places.get(definition);
  if (known !== undefined) return known;
  const prefix = storagePrefix(definition);
  const found = catalogue
    .current()
    .definitions.filter(
      (one) => one.origin === 'built-in' && one.answer === undefined && storagePrefix(one) === prefix,
    );
  places.set(definition, found);
  return found;
}

/**
 * Returns the resource kind that a request through a subresource has in a version; none if the version lacks the
 * subresource.
 */
function kindsOfSubresource(definition: ResourceDefinition, subresource: string | undefined): readonly ResourceKind[] {
  if (subresource === undefined) return [{ resource: definition, kind: definition }];
  const found = subresourceOf(definition, subresource);
  return found === undefined ? [] : [{ resource: definition, kind: subresourceKind(found) ?? definition }];
}
