import { field, integer32, string, struct } from '../schema/builder.js';
import { objectMeta, typeMeta } from '../schema/meta.js';

const component = (name: string): { readonly component: string } => ({
  component: `io.k8s.api.autoscaling.v1.${name}`,
});

/** autoscaling/v1 Scale: the view that a scale subresource gives of an object. */
export const scaleSchema = struct(
  'v1.Scale',
  {
    ...typeMeta,
    metadata: field(1, objectMeta, { description: 'Names and versions of the object.' }),
    spec: field(
      2,
      struct(
        'v1.ScaleSpec',
        { replicas: field(1, integer32(), { default: 0, description: 'How many are wanted.' }) },
        { description: 'How many are wanted.', ...component('ScaleSpec') },
      ),
      { description: 'How many are wanted.' },
    ),
    status: field(
      3,
      struct(
        'v1.ScaleStatus',
        {
          replicas: field(1, integer32(), { presence: 'always', description: 'How many there are.' }),
          selector: field(2, string(), { description: 'Label selector of what is counted.' }),
        },
        { required: ['replicas'], description: 'How many there are.', ...component('ScaleStatus') },
      ),
      { description: 'How many there are.' },
    ),
  },
  { description: 'How many of something are wanted and there.', ...component('Scale') },
);
