import { boolean, bytes, field, integer32, integer64, list, optional, string, time } from '../../schema/builder.js';
import { objectMeta, typeMeta } from '../../schema/meta.js';
import type { Schema } from '../../schema/schema.js';
import { jsonSchemaPropsSchema, struct } from './json-schema-props-schema.js';

/** Schema of CustomResourceDefinition (apiextensions/v1). */

const always = 'always' as const;

const names = struct(
  'CustomResourceDefinitionNames',
  {
    plural: field(1, string(), {
      presence: always,
      description: 'Plural name of the resource in URLs, in lower case.',
    }),
    singular: field(2, string(), {
      description: 'Singular name of the resource, in lower case; by default the kind in lower case.',
    }),
    shortNames: field(3, list(string(), { listType: 'atomic' }), {
      description: 'Short names of the resource, in lower case.',
    }),
    kind: field(4, string(), { presence: always, description: 'Kind of the objects, in CamelCase.' }),
    listKind: field(5, string(), {
      description: 'Kind of lists of the objects; by default the kind followed by List.',
    }),
    categories: field(6, list(string(), { listType: 'atomic' }), {
      description: 'Groups of resources that the resource is listed with, such as all.',
    }),
  },
  {
    required: ['plural', 'kind'],
    description: 'Names of the resource and its kind.',
  },
);

const scale = struct(
  'CustomResourceSubresourceScale',
  {
    specReplicasPath: field(1, string(), {
      presence: always,
      description: 'JSON path of the desired number of replicas, under .spec.',
    }),
    statusReplicasPath: field(2, string(), {
      presence: always,
      description: 'JSON path of the observed number of replicas, under .status.',
    }),
    labelSelectorPath: optional(3, string(), {
      description: 'JSON path of the label selector, as a string, under .spec or .status.',
    }),
  },
  {
    required: ['specReplicasPath', 'statusReplicasPath'],
    description: 'How the scale subresource maps to fields of the object.',
  },
);

const subresources = struct(
  'CustomResourceSubresources',
  {
    status: optional(1, struct('CustomResourceSubresourceStatus', {}, {}), {
      description: 'Enables the /status subresource.',
    }),
    scale: optional(2, scale, { description: 'Enables the /scale subresource.' }),
  },
  { description: 'Subresources that the objects have.' },
);

const column = struct(
  'CustomResourceColumnDefinition',
  {
    name: field(1, string(), { presence: always, description: 'Heading of the column.' }),
    type: field(2, string(), { presence: always, description: 'OpenAPI type of the values, or date.' }),
    format: field(3, string(), { description: 'OpenAPI format of the values.' }),
    description: field(4, string(), { description: 'Description of the column.' }),
    priority: field(5, integer32(), {
      description: 'Priority of the column: 0 is always shown, higher values only in wide output.',
    }),
    jsonPath: field(6, string(), { presence: always, description: 'JSON path of the value in the object.' }),
  },
  {
    required: ['name', 'type', 'jsonPath'],
    description: 'Additional column of tables.',
  },
);

const selectableField = struct(
  'SelectableField',
  {
    jsonPath: field(1, string(), {
      presence: always,
      description: 'JSON path of the field, which must be a string, boolean or integer.',
    }),
  },
  { required: ['jsonPath'], description: 'Field that can be used in field selectors.' },
);

const version = (jsonSchemaProps: Schema): Schema =>
  struct(
    'CustomResourceDefinitionVersion',
    {
      name: field(1, string(), { presence: always, description: 'Name of the version, such as v1.' }),
      served: field(2, boolean(), { presence: always, description: 'Whether the version is served.' }),
      storage: field(3, boolean(), {
        presence: always,
        description: 'Whether objects are stored in this version; true for exactly one version.',
      }),
      deprecated: field(7, boolean(), {
        description: 'Whether requests for this version receive a deprecation warning.',
      }),
      deprecationWarning: optional(8, string(), {
        description: 'Text of the deprecation warning; a standard text by default.',
      }),
      schema: optional(
        4,
        struct(
          'CustomResourceValidation',
          { openAPIV3Schema: optional(1, jsonSchemaProps, { description: 'OpenAPI v3 schema of the objects.' }) },
          { description: 'Schema by which objects are validated, pruned and defaulted.' },
        ),
      ),
      subresources: optional(5, subresources),
      additionalPrinterColumns: field(6, list(column, { listType: 'atomic' }), {
        description: 'Columns of tables; by default the age.',
      }),
      selectableFields: field(9, list(selectableField, { listType: 'atomic' }), {
        description: 'Fields that can be used in field selectors.',
      }),
    },
    {
      required: ['name', 'served', 'storage'],
      description: 'Version of the resource.',
    },
  );

const serviceReference = struct(
  'ServiceReference',
  {
    namespace: field(1, string(), { presence: always, description: 'Namespace of the Service.' }),
    name: field(2, string(), { presence: always, description: 'Name of the Service.' }),
    path: optional(3, string(), { description: 'URL path of the requests.' }),
    port: optional(4, integer32(), { fills: 443, description: 'Port of the Service.' }),
  },
  { required: ['namespace', 'name'], description: 'Reference to a Service.' },
);

const clientConfig = struct(
  'WebhookClientConfig',
  {
    url: optional(3, string(), { description: 'URL of the webhook, as https://host[:port]/path.' }),
    service: optional(1, serviceReference, { description: 'Service that runs the webhook.' }),
    caBundle: field(2, bytes(), {
      description: "CA certificates in PEM that the webhook's certificate is verified with.",
    }),
  },
  { description: 'How to connect to a webhook.' },
);

const conversion = struct(
  'CustomResourceConversion',
  {
    strategy: field(1, string({ go: 'v1.ConversionStrategyType' }), {
      presence: always,
      description: 'None (only apiVersion is changed) or Webhook.',
    }),
    webhook: optional(
      2,
      struct(
        'WebhookConversion',
        {
          clientConfig: optional(2, clientConfig),
          conversionReviewVersions: field(3, list(string(), { listType: 'atomic' }), {
            presence: always,
            description: 'Versions of ConversionReview that the webhook accepts, in order of preference.',
          }),
        },
        {
          required: ['conversionReviewVersions'],
          description: 'Webhook that converts objects.',
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
      description: 'Type of the condition.',
    }),
    status: field(2, string({ go: 'v1.ConditionStatus' }), {
      presence: always,
      description: 'Status of the condition: True, False or Unknown.',
    }),
    lastTransitionTime: field(3, time(), { presence: always, description: 'Time of the last change of the status.' }),
    reason: field(4, string(), { description: 'Reason for the status, as one word in CamelCase.' }),
    message: field(5, string(), { description: 'Human-readable details.' }),
    observedGeneration: field(6, integer64(), {
      description: 'Generation of the object that the condition is based on.',
    }),
  },
  {
    required: ['type', 'status'],
    description: 'Aspect of the state of a definition.',
  },
);

const status = struct(
  'CustomResourceDefinitionStatus',
  {
    conditions: field(1, list(condition, { listType: 'map', listMapKeys: ['type'] }), {
      presence: always,
      description: 'Conditions, such as Established, NamesAccepted and Terminating.',
    }),
    acceptedNames: field(2, names, { description: 'Names that the resource is served under.' }),
    storedVersions: field(3, list(string(), { listType: 'atomic' }), {
      presence: always,
      description: 'All versions that objects have ever been stored in.',
    }),
    observedGeneration: field(4, integer64(), { description: 'Most recent generation that the server has processed.' }),
  },
  { description: 'Observed state of a definition.' },
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
        description: 'Scope of the resource: Cluster or Namespaced.',
      }),
      versions: field(7, list(version(jsonSchemaPropsSchema(prefixes)), { listType: 'atomic' }), {
        presence: always,
        description: 'Versions of the resource.',
      }),
      conversion: optional(9, conversion),
      preserveUnknownFields: field(10, boolean(), { description: 'Deprecated; must be false.' }),
    },
    {
      required: ['group', 'names', 'scope', 'versions'],
      description: 'Definition of a resource.',
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
      description: 'Definition of a custom resource; its name must be <plural>.<group>.',
    },
  );
};
