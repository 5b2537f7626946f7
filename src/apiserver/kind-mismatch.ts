import { Complaints } from '../api/complaints.js';
import { internalPackage } from '../api/go-print.js';
import { groupVersion, groupVersionComplaint, type JsonObject, shortVersion } from '../api/object.js';
import type { TypeMeta } from '../api/type-meta.js';
import { internalGroup, notRegistered, unnamedScheme } from '../api/unregistered-kind.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import { DecodeError } from '../schema/decode-error.js';
import { isExtensionGroup, isRegistered, isRegisteredIn, isScaleGroup, isUnversioned } from './registered-kinds.js';

/** Compares the `kind` and `apiVersion` of a body with what is expected; the texts are Kubernetes'. */

/** Checks that `apiVersion` and `kind` are well-formed. */
export function checkTypeMeta(meta: TypeMeta): TypeMeta {
  const wrong = groupVersionComplaint(meta.apiVersion);
  if (wrong !== undefined) throw new DecodeError(wrong);
  // An empty group before the slash is the core group.
  return meta.apiVersion.startsWith('/') ? { ...meta, apiVersion: meta.apiVersion.slice(1) } : meta;
}

/** Returns the name of the Kubernetes scheme that decodes objects of a group. */
export const schemeOf = (group: string): string =>
  isExtensionGroup(group) ? unnamedScheme : 'k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30';

/** Thrown for an object whose kind cannot be converted to the expected one. */
export class NoConversion extends DecodeError {}

/**
 * Returns why an object of this type cannot be converted to a built-in kind; undefined if it can, for example from
 * another version of the kind.
 */
export function kindMismatch(definition: ResourceDefinition, meta: TypeMeta, scheme: string): string | undefined {
  if (meta.kind === definition.kind && meta.apiVersion === groupVersion(definition)) return undefined;
  const group = internalGroup(meta.apiVersion);
  if (group !== undefined) return internalKindMismatch(definition, { group, kind: meta.kind }, scheme);
  if (!isRegistered(meta, definition.group)) return notRegistered(meta, scheme);
  if (meta.kind === definition.kind && !isScaleGroup(definition.group)) return undefined;
  const version = isUnversioned(meta) ? 'v1' : shortVersion(meta.apiVersion);
  return `converting (${version}.${meta.kind}) to (${internalPackage(definition.group)}.${definition.kind}): unknown conversion`;
}

/** Like `kindMismatch`, for an object in Kubernetes' internal version, which is assumed if a body names none. */
export function internalKindMismatch(
  definition: ResourceDefinition,
  { group, kind }: { readonly group: string; readonly kind: string },
  scheme: string,
): string | undefined {
  if (kind === definition.kind && group === definition.group) return undefined;
  if (!isRegisteredIn(group, kind, definition.group))
    return notRegistered({ apiVersion: `${group}/__internal`, kind }, scheme);
  const [fromPackage, toPackage] = [group, definition.group].map(internalPackage);
  return `converting (${fromPackage}.${kind}) to (${toPackage}.${definition.kind}): unknown conversion`;
}

/**
 * Returns the unknown fields of an object that is decoded in Kubernetes' internal version: all of them, because
 * internal fields have other names.
 */
export function fieldsUnknownToInternal(object: JsonObject): readonly string[] {
  const strict = new Complaints();
  for (const name of Object.keys(object)) {
    if (name !== 'apiVersion' && name !== 'kind') strict.add(() => `unknown field "${name}"`);
  }
  return strict.texts;
}

/** The error text for a custom resource with a null apiVersion. */
export const nullVersionMessage = '.apiVersion accessor error: <nil> is of the type <nil>, expected string';

/** Whether an `apiVersion` names no version; a group alone does not. */
export const isVersionless = ({ apiVersion }: Pick<TypeMeta, 'apiVersion'>): boolean =>
  apiVersion === '' || apiVersion.endsWith('/');

export const missingVersionMessage = (text: string): string => `Object 'apiVersion' is missing in '${text}'`;
