import { boolean, bytes, field, integer32, integer64, list, optional, string, time } from '../../schema/builder.js';
import { objectMeta, typeMeta } from '../../schema/meta.js';
import type { Schema } from '../../schema/schema.js';
import { jsonSchemaPropsSchema, struct } from './json-schema-props-schema.js';

/** Schema of CustomResourceDefinition (apiextensions/v1). */

const always = 'always' as const;

const names = struct(
  'CustomResourceDefinitionNames',
  {
    plural: field(1, string(), { presence: always, description: 'Name in URLs, lower case.' }),
    singular: field(2, string(), { description: 'Name of one, lower case; by default that of the kind.' }),
    shortNames: field(3, list(string(), { listType: 'atomic' }), { description: 'Abbreviations, lower case.' }),
    kind: field(4, string(), { presence: always, description: 'Kind of the objects, in CamelCase.' }),
    listKind: field(5, string(), { description: 'Kind of lists of them; by default the kind and List.' }),
    categories: field(6, list(string(), { listType: 'atomic' }), {
      description: 'Groups of resources to list it with, such as all.',
    }),
  },
  {
    required: ['plural', 'kind'],
    description: 'What the resource is called.',
  },
);

const scale = struct(
  'CustomResourceSubresourceScale',
  {
    specReplicasPath: field(1, string(), {
      presence: always,
      description: 'Path of the number wanted, under .spec.',
    }),
    statusReplicasPath: field(2, string(), {
      presence: always,
      description: 'Path of the number there, under .status.',
    }),
    labelSelectorPath: optional(3, string(), { description: 'Path of a label selector as text.' }),
  },
  {
    required: ['specReplicasPath', 'statusReplicasPath'],
    description: 'How the resource is scaled.',
  },
);

const subresources = struct(
  'CustomResourceSubresources',
  {
    status: optional(1, struct('CustomResourceSubresourceStatus', {}, {}), { description: 'Serves /status.' }),
    scale: optional(2, scale, { description: 'Serves /scale.' }),
  },
  { description: 'Subresources of the objects.' },
);

const column = struct(
  'CustomResourceColumnDefinition',
  {
    name: field(1, string(), { presence: always, description: 'Head of the column.' }),
    type: field(2, string(), { presence: always, description: 'OpenAPI type of the cells, or date.' }),
    format: field(3, string(), { description: 'OpenAPI format of the cells.' }),
    description: field(4, string(), { description: 'What the column shows.' }),
    priority: field(5, integer32(), { description: 'Above 0 it is shown in wide tables only.' }),
    jsonPath: field(6, string(), { presence: always, description: 'Path of the cell in the object.' }),
  },
  {
    required: ['name', 'type', 'jsonPath'],
    description: 'A column of tables.',
  },
);

const selectableField = struct(
  'SelectableField',
  {
    jsonPath: field(1, string(), { presence: always, description: 'Path of a string, boolean or integer.' }),
  },
  { required: ['jsonPath'], description: 'A field to select objects by.' },
);

const version = (jsonSchemaProps: Schema): Schema =>
  struct(
    'CustomResourceDefinitionVersion',
    {
      name: field(1, string(), { presence: always, description: 'Name of the version, such as v1.' }),
      served: field(2, boolean(), { presence: always, description: 'Requests for it are answered.' }),
      storage: field(3, boolean(), { presence: always, description: 'Objects are stored in it.' }),
      deprecated: field(7, boolean(), { description: 'Requests get a warning.' }),
      deprecationWarning: optional(8, string(), { description: 'The warning, instead of the usual one.' }),
      schema: optional(
        4,
        struct(
          'CustomResourceValidation',
          { openAPIV3Schema: optional(1, jsonSchemaProps, { description: 'Schema of the objects.' }) },
          { description: 'How objects are checked, pruned and defaulted.' },
        ),
      ),
      subresources: optional(5, subresources),
      additionalPrinterColumns: field(6, list(column, { listType: 'atomic' }), {
        description: 'What tables show; by default the age.',
      }),
      selectableFields: field(9, list(selectableField, { listType: 'atomic' }), {
        description: 'What field selectors may name.',
      }),
    },
    {
      required: ['name', 'served', 'storage'],
      description: 'One version of the resource.',
    },
  );

const serviceReference = struct(
  'ServiceReference',
  {
    namespace: field(1, string(), { presence: always, description: 'Namespace of the service.' }),
    name: field(2, string(), { presence: always, description: 'Name of the service.' }),
    path: optional(3, string(), { description: 'Path of the URL.' }),
    port: optional(4, integer32(), { fills: 443, description: 'Port of the service.' }),
  },
  { required: ['namespace', 'name'], description: 'A service.' },
);

const clientConfig = struct(
  'WebhookClientConfig',
  {
    url: optional(3, string(), { description: 'Where the webhook is, as https://host[:port]/path.' }),
    service: optional(1, serviceReference, { description: 'The service that is the webhook.' }),
    caBundle: field(2, bytes(), { description: 'PEM of the CAs that its certificate is checked with.' }),
  },
  { description: 'How to reach a webhook.' },
);

const conversion = struct(
  'CustomResourceConversion',
  {
    strategy: field(1, string({ go: 'v1.ConversionStrategyType' }), {
      presence: always,
      description: 'None (only apiVersion changes) or Webhook.',
    }),
    webhook: optional(
      2,
      struct(
        'WebhookConversion',
        {
          clientConfig: optional(2, clientConfig),
          conversionReviewVersions: field(3, list(string(), { listType: 'atomic' }), {
            presence: always,
            description: 'Versions of ConversionReview the webhook reads, best first.',
          }),
        },
        {
          required: ['conversionReviewVersions'],
          description: 'The webhook that converts.',
        },
      ),
    ),
  },
  {
    required: ['strategy'],
    description: 'How objects are converted between versions.',
  },
);

const condition = struct(
  'CustomResourceDefinitionCondition',
  {
    type: field(1, string({ go: 'v1.CustomResourceDefinitionConditionType' }), {
      presence: always,
      description: 'What the condition is about.',
    }),
    status: field(2, string({ go: 'v1.ConditionStatus' }), {
      presence: always,
      description: 'True, False or Unknown.',
    }),
    lastTransitionTime: field(3, time(), { presence: always, description: 'When the status last changed.' }),
    reason: field(4, string(), { description: 'One CamelCase word saying why.' }),
    message: field(5, string(), { description: 'Details for people.' }),
    observedGeneration: field(6, integer64(), { description: 'Generation the condition was set for.' }),
  },
  {
    required: ['type', 'status'],
    description: 'One aspect of a definition\u2019s state.',
  },
);

const status = struct(
  'CustomResourceDefinitionStatus',
  {
    conditions: field(1, list(condition, { listType: 'map', listMapKeys: ['type'] }), {
      presence: always,
      description: 'Established, NamesAccepted, Terminating.',
    }),
    acceptedNames: field(2, names, { description: 'The names it is served under.' }),
    storedVersions: field(3, list(string(), { listType: 'atomic' }), {
      presence: always,
      description: 'Every version objects were ever stored in.',
    }),
    observedGeneration: field(4, integer64(), { description: 'Generation the server has seen.' }),
  },
  { description: 'What the server makes of a definition.' },
);

/** Returns the schema; `prefixes` are those of schema extensions. */
export const customResourceDefinitionSchema = (prefixes: readonly string[]): Schema => {
  const spec = struct(
    'CustomResourceDefinitionSpec',
    {
      group: field(1, string(), { presence: always, description: 'API group of the resource.' }),
      names: field(3, names),
      scope: field(4, string({ go: 'v1.ResourceScope' }), {
        presence: always,
        description: 'Cluster or Namespaced.',
      }),
      versions: field(7, list(version(jsonSchemaPropsSchema(prefixes)), { listType: 'atomic' }), {
        presence: always,
        description: 'All versions.',
      }),
      conversion: optional(9, conversion),
      preserveUnknownFields: field(10, boolean(), { description: 'Deprecated; must be false.' }),
    },
    {
      required: ['group', 'names', 'scope', 'versions'],
      description: 'What the resource is.',
    },
  );
  return struct(
    'CustomResourceDefinition',
    {
      ...typeMeta,
      metadata: field(1, objectMeta),
      spec: field(2, spec),
      status: field(3, status),
    },
    {
      required: ['spec'],
      description: 'A resource type that users define; named <plural>.<group>.',
    },
  );
};
