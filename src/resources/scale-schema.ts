import { field, integer32, string, structsOf } from '../schema/builder.js';
import { objectMeta, typeMeta } from '../schema/meta.js';

const struct = structsOf('io.k8s.api.autoscaling.v1');

/** autoscaling/v1 Scale: the form of an object in its scale subresource. */
export const scaleSchema = struct(
  'Scale',
  {
    ...typeMeta,
    metadata: field(1, objectMeta, { description: 'Names and versions of the object.' }),
    spec: field(
      2,
      struct(
        'ScaleSpec',
        { replicas: field(1, integer32(), { default: 0, description: 'How many are wanted.' }) },
        { description: 'How many are wanted.' },
      ),
      { description: 'How many are wanted.' },
    ),
    status: field(
      3,
      struct(
        'ScaleStatus',
        {
          replicas: field(1, integer32(), { presence: 'always', description: 'How many there are.' }),
          selector: field(2, string(), { description: 'Label selector of what is counted.' }),
        },
        { required: ['replicas'], description: 'How many there are.' },
      ),
      { description: 'How many there are.' },
    ),
  },
  { description: 'How many of something are wanted and there.' },
);
