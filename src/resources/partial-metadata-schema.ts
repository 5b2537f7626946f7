import { field, struct } from '../schema/builder.js';
import { objectMeta, typeMeta } from '../schema/meta.js';

/** meta/v1 PartialObjectMetadata: any object without what is its kind's own. */
export const partialMetadataSchema = struct(
  'v1.PartialObjectMetadata',
  { ...typeMeta, metadata: field(1, objectMeta, { description: 'Names, labels, versions and times.' }) },
  { description: 'The metadata of any object.' },
);
