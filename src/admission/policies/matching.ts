import type { ObjectSource } from '../../auth/object-source.js';
import type { AdmissionAttributes } from '../admission-step.js';
import { namespaceMatches, objectMatches, versionFor } from '../webhooks/matching.js';
import {
  type ObjectInterfaces,
  originalAttributes,
  type ResourceKind,
  type VersionedAttributes,
} from '../webhooks/versioned-attributes.js';
import type { Constraints } from './hooks.js';

/**
 * Returns the version in which the constraints match the request; undefined if they do not.
 *
 * @throws ApiError if that cannot be determined.
 */
export async function matchedVersion(
  constraints: Constraints,
  attributes: AdmissionAttributes,
  current: VersionedAttributes,
  { kinds, objects }: { readonly kinds: ObjectInterfaces; readonly objects: ObjectSource },
): Promise<ResourceKind | undefined> {
  const namespace = await namespaceMatches(constraints, attributes, current, objects);
  if (namespace === false || !objectMatches(constraints, current)) return undefined;
  const { rules, excluded, matchPolicy } = constraints;
  if (versionFor(excluded, matchPolicy, attributes, kinds) !== undefined) return undefined;
  const as = rules.length === 0 ? originalAttributes(attributes).as : versionFor(rules, matchPolicy, attributes, kinds);
  if (as !== undefined && namespace !== true) throw namespace;
  return as;
}
