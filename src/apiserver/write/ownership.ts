import { type ApiObject, groupVersion } from '../../api/object.js';
import { recordUpdate } from '../../apply/ownership.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { runInTurns, type TurnTaking } from '../../runtime/turn-taking.js';
import { withVersions } from '../conversions.js';
import type { WriteRequest } from './request.js';

/** Returns the object with the fields that this write changes recorded as owned by its manager. */
export function recordOwnership(
  request: WriteRequest,
  live: ApiObject | undefined,
  next: ApiObject,
  turns: TurnTaking,
): Promise<ApiObject> {
  const { definition, view, context } = request;
  // A status that was sent as another kind, or in an unknown version, cannot be compared with the stored object.
  if (live !== undefined && !isOneOf(definition, next)) return Promise.resolve(unowned(next));
  const owned = withVersions(definition, (versions) => {
    const steps = recordUpdate({
      live,
      next,
      schema: definition.schema,
      manager: request.manager,
      apiVersion: groupVersion(definition),
      subresource: request.managedSubresource,
      now: context.now,
      resetFields: (view === undefined ? definition.resetFields : view.resetFields) ?? [],
      versions,
    });
    return runInTurns(steps, turns);
  });
  if (definition.versions?.convertRemotely === undefined) return owned;
  // Ownership cannot be expressed in a version that the object cannot be converted to, so that all entries are dropped.
  return owned.catch(() => unowned(next));
}

const isOneOf = (definition: ResourceDefinition, { apiVersion, kind }: ApiObject): boolean =>
  kind === definition.kind &&
  (definition.siblings?.() ?? [definition]).some((sibling) => apiVersion === groupVersion(sibling));

function unowned(object: ApiObject): ApiObject {
  const { managedFields: _managed, ...metadata } = object.metadata;
  return { ...object, metadata };
}
