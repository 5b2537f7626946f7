import { type ApiObject, member } from '../api/object.js';
import type {
  ResourceDefinition,
  Subresource,
  SubresourceAction,
  SubresourceProjection,
  Verb,
} from './resource-definition.js';

/** Returns the subresource with this name; undefined if the kind has none. */
export const subresourceOf = (
  { subresources }: Pick<ResourceDefinition, 'subresources'>,
  name: string,
): Subresource<ApiObject> | undefined => subresources && member(subresources, name);

export const verbsOfSubresource = (subresource: Subresource<ApiObject>): readonly Verb[] =>
  subresource.type === 'action' ? ['create'] : (subresource.verbs ?? ['get', 'patch', 'update']);

/** Returns the kind of the objects of a subresource, if it differs from that of the resource; otherwise undefined. */
export function subresourceKind(
  subresource: Subresource<ApiObject>,
): SubresourceProjection<ApiObject>['of'] | SubresourceAction['request'] | undefined {
  if (subresource.type === 'projection') return subresource.of;
  return subresource.type === 'action' ? subresource.request : undefined;
}

/** Returns the definition of the kind of the objects of a subresource, for decoding and representation. */
export const subresourceDefinition = (
  { plural, namespaced }: ResourceDefinition,
  kind: Pick<ResourceDefinition, 'group' | 'version' | 'kind' | 'schema' | 'columns'>,
): ResourceDefinition => ({ ...kind, plural, singular: '', listKind: '', namespaced, origin: 'built-in' });
