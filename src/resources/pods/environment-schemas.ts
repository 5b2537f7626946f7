import { boolean, field, optional, string } from '../../schema/builder.js';
import type { Schema } from '../../schema/schema.js';
import { coreStruct } from '../core-struct.js';
import { nameOf } from '../object-reference-schema.js';
import { objectFieldSelector, resourceFieldSelector } from './projected-volume-schemas.js';

/** Schemas of environment variables. */

type Kind = 'ConfigMap' | 'Secret';

const envSource = (kind: Kind): Schema =>
  coreStruct(
    `${kind}EnvSource`,
    { ...nameOf(kind), optional: optional(2, boolean(), { description: `May the ${kind} be missing?` }) },
    { description: `Entries of a ${kind} as environment variables.` },
  );

export const envFromSource = coreStruct(
  'EnvFromSource',
  {
    prefix: field(1, string(), { description: 'What their names begin with.' }),
    configMapRef: optional(2, envSource('ConfigMap'), { description: 'Entries of a ConfigMap.' }),
    secretRef: optional(3, envSource('Secret'), { description: 'Entries of a Secret.' }),
  },
  { description: 'Where a set of environment variables is from.' },
);

const keySelector = (kind: Kind): Schema =>
  coreStruct(
    `${kind}KeySelector`,
    {
      ...nameOf(kind),
      key: field(2, string(), { presence: 'always', description: 'Name of the entry.' }),
      optional: optional(3, boolean(), { description: 'May it be missing?' }),
    },
    { required: ['key'], mapType: 'atomic', description: `An entry of a ${kind}.` },
  );

const fileKeySelector = coreStruct(
  'FileKeySelector',
  {
    volumeName: field(1, string(), { presence: 'always', description: 'Volume with the file.' }),
    path: field(2, string(), { presence: 'always', description: 'Path of the file in the volume.' }),
    key: field(3, string(), { presence: 'always', description: 'Name of the variable in the file.' }),
    optional: optional(4, boolean(), { default: false, description: 'May it be missing?' }),
  },
  { required: ['volumeName', 'path', 'key'], mapType: 'atomic', description: 'An entry of a file with variables.' },
);

const envVarSource = coreStruct(
  'EnvVarSource',
  {
    fieldRef: optional(1, objectFieldSelector, { description: 'A field of the pod.' }),
    resourceFieldRef: optional(2, resourceFieldSelector, { description: 'A resource of a container.' }),
    configMapKeyRef: optional(3, keySelector('ConfigMap'), { description: 'An entry of a ConfigMap.' }),
    secretKeyRef: optional(4, keySelector('Secret'), { description: 'An entry of a Secret.' }),
    fileKeyRef: optional(5, fileKeySelector, { description: 'An entry of a file in a volume.' }),
  },
  { description: 'Where the value of a variable is from.' },
);

export const envVar = coreStruct(
  'EnvVar',
  {
    name: field(1, string(), { presence: 'always', description: 'Name of the variable.' }),
    value: field(2, string(), { description: 'Its value; $(NAME) stands for another variable.' }),
    valueFrom: optional(3, envVarSource, { description: 'Where the value is from.' }),
  },
  { required: ['name'], description: 'An environment variable.' },
);
