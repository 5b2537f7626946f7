import * as b from '../../src/schema/builder.js';
import { objectMeta, typeMeta } from '../../src/schema/meta.js';
import type { Schema } from '../../src/schema/schema.js';

/** Small kinds for tests of wire formats, with the structure of real ones. */
export const configMap = b.struct(
  'v1.ConfigMap',
  {
    ...typeMeta,
    metadata: b.field(1, objectMeta),
    data: b.field(2, b.map(b.string())),
    binaryData: b.field(3, b.map(b.bytes())),
    immutable: b.optional(4, b.boolean()),
  },
  { component: 'io.k8s.api.core.v1.ConfigMap', description: 'Text and bytes by key.' },
);

export const ruleWithOperations = b.struct('v1.RuleWithOperations', {
  operations: b.field(1, b.list(b.string())),
  ...b.embedded(2, 'Rule', { apiGroups: b.field(1, b.list(b.string())), scope: b.optional(4, b.string()) }),
});

const condition = b.struct('v1.CertificateSigningRequestCondition', {
  type: b.field(1, b.string({ go: 'v1.RequestConditionType' }), { presence: 'always' }),
  status: b.field(6, b.string({ go: 'v1.ConditionStatus' }), { presence: 'always' }),
  reason: b.field(2, b.string()),
  message: b.field(3, b.string()),
  lastUpdateTime: b.field(4, b.time()),
  lastTransitionTime: b.field(5, b.time()),
});

export const signingRequest = b.struct('v1.CertificateSigningRequest', {
  ...typeMeta,
  metadata: b.field(1, objectMeta),
  spec: b.field(
    2,
    b.struct('v1.CertificateSigningRequestSpec', {
      request: b.field(1, b.bytes(), { presence: 'always' }),
      signerName: b.field(7, b.string(), { presence: 'always' }),
      expirationSeconds: b.optional(8, b.integer32()),
      usages: b.field(5, b.list(b.string({ go: 'v1.KeyUsage' }))),
      username: b.field(2, b.string()),
      uid: b.field(3, b.string()),
      groups: b.field(4, b.list(b.string())),
      extra: b.field(6, b.map(b.list(b.string(), { go: 'v1.ExtraValue' }))),
    }),
  ),
  status: b.field(
    3,
    b.struct('v1.CertificateSigningRequestStatus', {
      conditions: b.field(1, b.list(condition)),
      certificate: b.field(2, b.bytes()),
    }),
  ),
});

/** A kind with one field of every type. */
export const everything = b.struct('v1.Everything', {
  ...typeMeta,
  metadata: b.field(1, objectMeta),
  text: b.field(2, b.string(), { presence: 'always' }),
  flag: b.field(3, b.boolean(), { presence: 'always' }),
  maybeFlag: b.optional(4, b.boolean()),
  small: b.field(5, b.integer32(), { presence: 'always' }),
  large: b.optional(6, b.integer64()),
  ratio: b.field(7, b.double()),
  maybeRatio: b.optional(18, b.double()),
  blob: b.field(8, b.bytes(), { presence: 'always' }),
  when: b.field(9, b.time(), { presence: 'always' }),
  precisely: b.optional(10, b.microTime()),
  port: b.optional(11, b.intOrString()),
  amount: b.field(12, b.map(b.quantity())),
  free: b.optional(13, b.anyJson()),
  names: b.field(14, b.list(b.string()), { presence: 'always' }),
  counts: b.field(15, b.map(b.integer64())),
  owner: b.optional(16, b.struct('v1.Owner', { name: b.field(1, b.string(), { presence: 'always' }) })),
  parts: b.field(17, b.list(b.struct('v1.Part', { id: b.field(1, b.integer32(), { presence: 'always' }) }))),
});

/** A schema that contains itself, through unions too. */
const propsFields: Record<string, Schema> = {};
export const props: Schema = {
  type: 'object',
  properties: new Map(),
  wire: { go: 'v1.JSONSchemaProps', component: 'x.JSONSchemaProps' },
};
Object.assign(propsFields, {
  type: b.field(5, b.string()),
  default: b.optional(8, b.anyJson({ go: 'v1.JSON' })),
  exclusiveMinimum: b.field(12, b.boolean()),
  items: b.optional(24, {
    oneOf: [b.field(1, props), b.field(2, b.list(props))],
    wire: { go: 'v1.JSONSchemaPropsOrArray' },
  }),
  properties: b.field(29, b.map(props)),
  additionalProperties: b.optional(30, {
    oneOf: [b.field(1, b.boolean()), b.field(2, props)],
    wire: { go: 'v1.JSONSchemaPropsOrBool' },
  }),
});
for (const [name, schema] of Object.entries(propsFields)) (props.properties as Map<string, Schema>).set(name, schema);
