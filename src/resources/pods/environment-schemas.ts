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
    { ...nameOf(kind), optional: optional(2, boolean(), { description: `Whether the ${kind} may be missing.` }) },
    { description: `Source of environment variables: all entries of a ${kind}.` },
  );

export const envFromSource = coreStruct(
  'EnvFromSource',
  {
    prefix: field(1, string(), { description: 'Text that is put before the name of each variable.' }),
    configMapRef: optional(2, envSource('ConfigMap'), {
      description: 'ConfigMap whose entries become environment variables.',
    }),
    secretRef: optional(3, envSource('Secret'), { description: 'Secret whose entries become environment variables.' }),
  },
  { description: 'Source of a set of environment variables.' },
);

const keySelector = (kind: Kind): Schema =>
  coreStruct(
    `${kind}KeySelector`,
    {
      ...nameOf(kind),
      key: field(2, string(), { presence: 'always', description: 'Key of the entry.' }),
      optional: optional(3, boolean(), { description: 'Whether the object or the key may be missing.' }),
    },
    { required: ['key'], mapType: 'atomic', description: `Reference to one entry of a ${kind}.` },
  );

const fileKeySelector = coreStruct(
  'FileKeySelector',
  {
    volumeName: field(1, string(), { presence: 'always', description: 'Name of the volume that contains the file.' }),
    path: field(2, string(), { presence: 'always', description: 'Path of the file, relative to the volume.' }),
    key: field(3, string(), { presence: 'always', description: 'Name of the variable in the file.' }),
    optional: optional(4, boolean(), {
      default: false,
      description: 'Whether the file or the key may be missing; false by default.',
    }),
  },
  {
    required: ['volumeName', 'path', 'key'],
    mapType: 'atomic',
    description: 'Reference to one variable in a file of variables.',
  },
);

const envVarSource = coreStruct(
  'EnvVarSource',
  {
    fieldRef: optional(1, objectFieldSelector, { description: 'Field of the pod.' }),
    resourceFieldRef: optional(2, resourceFieldSelector, { description: 'Resource limit or request of a container.' }),
    configMapKeyRef: optional(3, keySelector('ConfigMap'), { description: 'Entry of a ConfigMap.' }),
    secretKeyRef: optional(4, keySelector('Secret'), { description: 'Entry of a Secret.' }),
    fileKeyRef: optional(5, fileKeySelector, { description: 'Variable in a file of a volume.' }),
  },
  { description: 'Source of the value of an environment variable.' },
);

export const envVar = coreStruct(
  'EnvVar',
  {
    name: field(1, string(), { presence: 'always', description: 'Name of the variable.' }),
    value: field(2, string(), {
      description: 'Value of the variable; references $(NAME) to other variables are expanded.',
    }),
    valueFrom: optional(3, envVarSource, { description: 'Source of the value, if it is not given literally.' }),
  },
  { required: ['name'], description: 'Environment variable of a container.' },
);
