import { field, integer32, string, structsOf } from '../schema/builder.js';
import { objectMeta, typeMeta } from '../schema/meta.js';

const struct = structsOf('io.k8s.api.autoscaling.v1');

/** autoscaling/v1 Scale: the form of an object in its scale subresource. */
export const scaleSchema = struct(
  'Scale',
  {
    ...typeMeta,
    metadata: field(1, objectMeta, { description: 'Standard object metadata of the scaled object.' }),
    spec: field(
      2,
      struct(
        'ScaleSpec',
        { replicas: field(1, integer32(), { default: 0, description: 'Desired number of replicas.' }) },
        { description: 'Desired number of replicas.' },
      ),
      { description: 'Desired number of replicas.' },
    ),
    status: field(
      3,
      struct(
        'ScaleStatus',
        {
          replicas: field(1, integer32(), { presence: 'always', description: 'Observed number of replicas.' }),
          selector: field(2, string(), { description: 'Label selector of the counted replicas, as a string.' }),
        },
        { required: ['replicas'], description: 'Observed number of replicas.' },
      ),
      { description: 'Observed number of replicas.' },
    ),
  },
  { description: 'Request to scale a resource, and its current scale.' },
);
