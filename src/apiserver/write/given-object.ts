import { type ApiError, badRequest, conflict, internalError, invalidObject, untyped } from '../../api/errors.js';
import type { ApiObject, ObjectKey } from '../../api/object.js';
import { parseResourceVersion } from '../../api/options.js';
import { invalid } from '../../api/violations.js';
import { storageKey } from '../../registry/keys.js';
import { dedupeOwnerReferences } from '../../registry/metadata-rules.js';
import type { RequestContext, ResourceDefinition } from '../../registry/resource-definition.js';
import { isVersionless, missingVersionMessage } from '../kind-mismatch.js';
import type { WriteRequest } from './request.js';

/** Checks the identity in a written object against the request and the stored object. */

/** Returns the object that an error is about. */
export const errorSubject = (definition: ResourceDefinition, name: string | undefined) => ({
  group: definition.group,
  plural: definition.plural,
  name: name ?? '',
});

/** Returns the object in the namespace of the URL; cluster-scoped objects have none. */
export function inNamespace(definition: ResourceDefinition, { key }: RequestContext, object: ApiObject): ApiObject {
  const { namespace } = object.metadata;
  if (namespace === (definition.namespaced ? key.namespace : undefined)) return object;
  if (!definition.namespaced) {
    const { namespace: _, ...metadata } = object.metadata;
    return { ...object, metadata };
  }
  if (namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  return { ...object, metadata: { ...object.metadata, namespace: key.namespace ?? '' } };
}

/**
 * Returns the object in the namespace of the URL, and checks that its name matches. This is the first check of a
 * decoded or patched object.
 */
export function placedByUrl(definition: ResourceDefinition, context: RequestContext, object: ApiObject): ApiObject {
  const placed = inNamespace(definition, context, object);
  checkName(placed, context.key.name ?? '');
  return placed;
}

/** Throws unless the name in the body is that of the URL. */
function checkName({ metadata }: ApiObject, name: string): void {
  if (!metadata.name) {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
}

/** Throws for an object without an API version. For custom resources this comes late, after checks such as that of the name. */
export function checkVersioned(object: Pick<ApiObject, 'apiVersion'>): void {
  if (isVersionless(object)) throw internalError(missingVersionMessage('object has no apiVersion field'));
}

/** Throws if an object to be created has a resourceVersion. `ignore`: any value is allowed. */
export function checkNoVersion({ metadata }: ApiObject, ignore: boolean): void {
  const { resourceVersion } = metadata;
  if (!resourceVersion || ignore) return;
  const version = parseResourceVersion(resourceVersion);
  if (typeof version === 'bigint' && version !== 0n)
    throw untyped('resourceVersion should not be set on objects to be created');
}

/** Returns the resourceVersion that the caller sends with an update; 0 if there is none. */
export function readGivenVersion({ metadata }: ApiObject): bigint {
  if (!metadata.resourceVersion) return 0n;
  const version = parseResourceVersion(metadata.resourceVersion);
  if (typeof version === 'bigint') return version;
  throw untyped(version.wrong);
}

/** Removes repeated owner references with a warning; `when` says whether the request or admission repeated them. */
export function dedupeOwners(object: ApiObject, context: RequestContext, when: 'request' | 'admission'): ApiObject {
  const { object: deduped, repeated } = dedupeOwnerReferences(object);
  if (repeated.length) {
    const after = when === 'request' ? '' : ' after mutating admission happens';
    context.warn(
      `.metadata.ownerReferences contains duplicate entries${after}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${repeated.join(', ')}`,
    );
  }
  return deduped;
}

/**
 * Returns the storage path of an object in Kubernetes, in which built-in groups are not named, except that of
 * CustomResourceDefinitions.
 */
function keptAt(definition: ResourceDefinition, key: ObjectKey, dryRun: boolean): string {
  const path = storageKey(definition, key);
  const grouped = definition.origin === 'custom' || definition.group.startsWith('apiextensions.');
  return `${dryRun ? '' : '/registry'}${grouped ? `/${path}` : path.slice(path.indexOf('/'))}`;
}

/** Returns the error of the storage of Kubernetes for an object that does not meet a precondition. */
export const preconditionFailed = (field: 'UID' | 'ResourceVersion', expected: string, actual: string): string =>
  `Precondition failed: ${field} in precondition: ${expected}, ${field} in object meta: ${actual}`;

/** Returns the error for a PUT with the uid of another object. */
export const uidMismatch = (
  { definition, dryRun }: Pick<WriteRequest, 'definition' | 'dryRun'>,
  key: ObjectKey,
  [expected, actual]: readonly [given: string, actual: string],
): ApiError =>
  conflict(
    errorSubject(definition, key.name),
    `StorageError: invalid object, Code: 4, Key: ${keptAt(definition, key, dryRun)}, ResourceVersion: 0, AdditionalErrorMsg: ${preconditionFailed('UID', expected, actual)}`,
  );

export const uidOfMissing = (definition: ResourceDefinition, { name }: ObjectKey, uid: string): ApiError =>
  conflict(
    errorSubject(definition, name),
    `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
  );

export const versionMissing = (definition: ResourceDefinition, { name }: ObjectKey): ApiError => {
  // Kubernetes returns the plural instead of the kind here.
  const subject = { group: definition.group, kind: definition.plural, name };
  return invalidObject(subject, [invalid('metadata.resourceVersion', 0, 'must be specified for an update')]);
};

/** Returns the group in errors about the content of an object; for a built-in kind that of its storage version. */
export const groupInErrors = ({ origin, storedAs }: ResourceDefinition, group: string): string =>
  origin === 'built-in' ? (storedAs?.group ?? group) : group;
