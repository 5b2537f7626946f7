import { internalPackage } from '../api/go-print.js';
import { quote } from '../api/go-text.js';
import { groupVersion, groupVersionComplaint } from '../api/object.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import { DecodeError } from '../schema/decode-error.js';
import { isRegistered, isRegisteredIn, isUnversioned, type TypeMeta } from './registered-kinds.js';

/** What a body says that it is, held against what is expected, in Kubernetes' words. */

/** What an object says it is. */
export function checkedVersion(meta: TypeMeta): TypeMeta {
  const wrong = groupVersionComplaint(meta.apiVersion);
  if (wrong !== undefined) throw new DecodeError(wrong);
  // An empty group before the slash is the core group.
  return meta.apiVersion.startsWith('/') ? { ...meta, apiVersion: meta.apiVersion.slice(1) } : meta;
}

/** What Kubernetes calls a scheme that was given no name: the line of its source that made it. */
export const unnamedScheme = 'pkg/runtime/scheme.go:111';

export function notRegistered({ apiVersion, kind }: TypeMeta, scheme: string): string {
  const group = internalGroup(apiVersion);
  const version =
    group === undefined ? `version ${quote(apiVersion)}` : `the internal version of group ${quote(group)}`;
  return `no kind ${quote(kind)} is registered for ${version} in scheme ${quote(scheme)}`;
}

/** The group of Kubernetes' own form of its kinds, which has a version that nobody is served; undefined for others. */
const internalGroup = (apiVersion: string): string | undefined =>
  shortVersion(apiVersion) === '__internal' ? apiVersion.slice(0, -'/__internal'.length) : undefined;

/** The object is of a kind that cannot be made the one that is expected. */
export class NoConversion extends DecodeError {}

/** Why an object cannot be of a built-in kind, by what it says it is; another version of the kind can be converted. */
export function kindComplaint(definition: ResourceDefinition, meta: TypeMeta, scheme: string): string | undefined {
  if (meta.kind === definition.kind && meta.apiVersion === groupVersion(definition)) return undefined;
  const group = internalGroup(meta.apiVersion);
  if (group !== undefined) return internalComplaint(definition, { group, kind: meta.kind }, scheme);
  if (!isRegistered(meta, definition.group)) return notRegistered(meta, scheme);
  if (meta.kind === definition.kind) return undefined;
  const version = isUnversioned(meta) ? 'v1' : shortVersion(meta.apiVersion);
  return `converting (${version}.${meta.kind}) to (${internalPackage(definition.group)}.${definition.kind}): unknown conversion`;
}

/** The same of an object in Kubernetes' own form, as one that says no version counts as. */
export function internalComplaint(
  definition: ResourceDefinition,
  { group, kind }: { readonly group: string; readonly kind: string },
  scheme: string,
): string | undefined {
  if (kind === definition.kind && group === definition.group) return undefined;
  if (!isRegisteredIn(group, kind)) return notRegistered({ apiVersion: `${group}/__internal`, kind }, scheme);
  const [given, wanted] = [group, definition.group].map(internalPackage);
  return `converting (${given}.${kind}) to (${wanted}.${definition.kind}): unknown conversion`;
}

/** What is wrong with a custom resource whose version is null. */
export const versionNull = '.apiVersion accessor error: <nil> is of the type <nil>, expected string';

/** A group alone is no version. */
export const isVersionless = ({ apiVersion }: Pick<TypeMeta, 'apiVersion'>): boolean =>
  apiVersion === '' || apiVersion.endsWith('/');

export const apiVersionMissing = (text: string): string => `Object 'apiVersion' is missing in '${text}'`;

export const shortVersion = (apiVersion: string): string => apiVersion.split('/').at(-1) ?? '';
