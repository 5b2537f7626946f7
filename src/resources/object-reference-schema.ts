import { field, string, struct } from '../schema/builder.js';

const component = (name: string): { readonly component: string } => ({ component: `io.k8s.api.core.v1.${name}` });

/** core/v1 ObjectReference. */
export const objectReference = struct(
  'v1.ObjectReference',
  {
    kind: field(1, string(), { description: 'Kind of the object.' }),
    namespace: field(2, string(), { description: 'Namespace of the object.' }),
    name: field(3, string(), { description: 'Name of the object.' }),
    uid: field(4, string({ go: 'types.UID' }), { description: 'UID of the object.' }),
    apiVersion: field(5, string(), { description: 'API version of the object.' }),
    resourceVersion: field(6, string(), { description: 'Version of the object that is meant.' }),
    fieldPath: field(7, string(), { description: 'Part of the object that is meant.' }),
  },
  { mapType: 'atomic', description: 'Points at an object.', ...component('ObjectReference') },
);

/** core/v1 LocalObjectReference. */
export const localObjectReference = struct(
  'v1.LocalObjectReference',
  { name: field(1, string(), { description: 'Name of the object.' }) },
  {
    mapType: 'atomic',
    description: 'Points at an object in the same namespace.',
    ...component('LocalObjectReference'),
  },
);
