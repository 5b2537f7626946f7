import { embedded, field, string } from '../schema/builder.js';
import type { Schema } from '../schema/schema.js';
import { coreStruct } from './core-struct.js';

/** core/v1 ObjectReference. */
export const objectReference = coreStruct(
  'ObjectReference',
  {
    kind: field(1, string(), { description: 'Kind of the object.' }),
    namespace: field(2, string(), { description: 'Namespace of the object.' }),
    name: field(3, string(), { description: 'Name of the object.' }),
    uid: field(4, string({ go: 'types.UID' }), { description: 'UID of the object.' }),
    apiVersion: field(5, string(), { description: 'API version of the object.' }),
    resourceVersion: field(6, string(), { description: 'Resource version of the object.' }),
    fieldPath: field(7, string(), {
      description: 'Path of the part of the object that is referred to, such as spec.containers{name}.',
    }),
  },
  { mapType: 'atomic', description: 'Reference to an object.' },
);

const localName = (description: string): { readonly name: Schema } => ({
  name: field(1, string(), { default: '', description }),
});

/** core/v1 LocalObjectReference. */
export const localObjectReference = coreStruct('LocalObjectReference', localName('Name of the object.'), {
  mapType: 'atomic',
  description: 'Reference to an object in the same namespace.',
});

/** Returns the name member of an object of one kind, for a struct that embeds a LocalObjectReference. */
export const nameOf = (kind: string): Readonly<Record<string, Schema>> =>
  embedded(1, 'LocalObjectReference', localName(`Name of the ${kind}.`));
