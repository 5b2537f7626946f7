import { struct } from '../schema/builder.js';
import { objectMembers } from '../schema/meta.js';

/** meta/v1 PartialObjectMetadata: any object without what is its kind's own. */
export const partialMetadataSchema = struct('v1.PartialObjectMetadata', objectMembers, {
  description: 'The metadata of any object.',
});
