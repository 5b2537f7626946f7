import { struct } from '../schema/builder.js';
import { objectMembers } from '../schema/meta.js';

/** meta/v1 PartialObjectMetadata: any object without the members that belong to its kind. */
export const partialMetadataSchema = struct('v1.PartialObjectMetadata', objectMembers, {
  description: 'Type and metadata of an object, without the rest of it.',
});
