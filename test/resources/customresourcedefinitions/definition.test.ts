import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CustomResourceDefinition } from '../../../src/api/kinds/custom-resource-definition.js';
import type { Json, JsonObject } from '../../../src/api/object.js';
import { resultOf, runSync } from '../../../src/api/steps.js';
import { createViolations } from '../../../src/apiserver/write/violations.js';
import type { RequestContext, ResourceDefinition } from '../../../src/registry/resource-definition.js';
import { customResourceDefinitions } from '../../../src/resources/customresourcedefinitions/definition.js';
import { compileDecoder } from '../../../src/schema/decode.js';
import { DecodeError } from '../../../src/schema/decode-error.js';
import { decodeProtobuf, encodeProtobuf } from '../../../src/schema/protobuf.js';
import { context, found, read } from '../write.js';

const crds = customResourceDefinitions();

interface Recorded {
  readonly name: string;
  readonly body: JsonObject;
  readonly causes?: readonly (readonly [string, string, string])[];
  readonly warnings?: readonly string[] | null;
}
// Responses of Kubernetes 1.36.
const recorded = JSON.parse(
  readFileSync(new URL('./recorded.json.txt', import.meta.url), 'utf8'),
) as readonly Recorded[];

/** Returns the outcome of a create: causes as Kubernetes lists them, and the object. */
function create(body: object): {
  readonly crd: CustomResourceDefinition;
  readonly causes: readonly (readonly string[])[];
} {
  const crd = crds.prepare?.(read(crds, body), undefined, context) as CustomResourceDefinition;
  const violations = found(createViolations({ definition: crds as unknown as ResourceDefinition, context }, crd));
  return { crd, causes: violations.map(({ reason, field, body: text }) => [reason, field, text]) };
}

const sorted = (causes: readonly (readonly string[])[]): readonly string[] =>
  causes.map((cause) => cause.join(' ')).sort();

describe('creation is answered as by Kubernetes', () => {
  test.each(recorded.map((one) => [one.name, one] as const))('%s', (_, { body, causes = [], warnings }) => {
    const result = create(body);
    expect(sorted(result.causes)).toEqual(sorted(causes));
    if (causes.length > 0 || !warnings) return;
    const ours = warnings.filter((text) => !text.startsWith('unknown field'));
    expect(crds.warnings?.(result.crd, undefined)).toEqual(ours);
  });
});

const spec = (schema: JsonObject = { type: 'object' }, more: JsonObject = {}): JsonObject => ({
  group: 'example.com',
  names: { plural: 'widgets', kind: 'Widget' },
  scope: 'Namespaced',
  versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
  ...more,
});
const body = (schema?: JsonObject, more?: JsonObject): JsonObject => ({
  metadata: { name: 'widgets.example.com' },
  spec: spec(schema, more),
});
const version = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  served: true,
  storage: false,
  schema: { openAPIV3Schema: { type: 'object' } },
  ...more,
});

test('names, conversion and the stored version get defaults', () => {
  const { crd, causes } = create(body());
  expect(causes).toEqual([]);
  expect(crd.spec.names).toEqual({ plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' });
  expect(crd.spec.conversion).toEqual({ strategy: 'None' });
  expect(crd.status).toEqual({ conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] });
});

test('a kind is lower-cased as in Go', () => {
  const { crd } = create(body(undefined, { names: { plural: 'widgets', kind: 'W\u0130DGET\u03a3' } }));
  expect(crd.spec.names?.singular).toBe('widget\u03c3');
});

test('white space in rules is recognized as in Go', () => {
  const rules = [
    { rule: 'true', message: '\u0085' },
    { rule: 'true', message: '\ufeff' },
    { rule: '\u0085', message: 'x' },
  ];
  const { causes } = create(body({ type: 'object', 'x-kubernetes-validations': rules }));
  expect(causes.map(([, field, text]) => [field?.split('x-kubernetes-validations')[1], text])).toEqual([
    ['[0].message', 'Invalid value: "\\u0085": must be non-empty if specified'],
    ['[2].rule', 'Required value: rule is not specified'],
  ]);
});

test('an invalid deprecation warning is quoted as JSON', () => {
  const versions = [version('v1', { storage: true, deprecated: true, deprecationWarning: 'a\u0000' })];
  expect(create(body(undefined, { versions })).causes).toEqual([
    ['FieldValueInvalid', expect.any(String), expect.stringMatching(/^Invalid value: "a\\u0000": must only contain/)],
  ]);
});

test.each([{}, { conversionReviewVersions: [] }])('an empty conversion webhook is dropped: %j', (webhook) => {
  const { crd } = create(body(undefined, { conversion: { strategy: 'None', webhook } }));
  expect(crd.spec.conversion).toEqual({ strategy: 'None' });
});

test('a status in a create request is ignored', () => {
  const { crd } = create({ ...body(), status: { storedVersions: ['v9'], acceptedNames: { plural: 'x', kind: 'X' } } });
  expect(crd.status?.storedVersions).toEqual(['v1']);
  expect(crd.status?.acceptedNames).toEqual({ plural: '', kind: '' });
});

const update = (next: CustomResourceDefinition, previous: CustomResourceDefinition): readonly (readonly string[])[] =>
  found(crds.validate?.(crds.prepare?.(next, previous, context) ?? next, previous, context)).map(
    ({ field, body: text }) => [field, text],
  );
const established = (crd: CustomResourceDefinition): CustomResourceDefinition => ({
  ...crd,
  status: { ...crd.status, conditions: [{ type: 'Established', status: 'True' }] },
});
const changed = (crd: CustomResourceDefinition, more: object): CustomResourceDefinition => ({
  ...crd,
  spec: { ...crd.spec, ...more },
});

test('a new storage version is added to the stored versions, which must remain', () => {
  const { crd } = create(body());
  const versions = [version('v1'), version('v2', { storage: true })];
  const next = crds.prepare?.(read(crds, { ...body(undefined, { versions }) }), crd, context);
  expect(next?.status?.storedVersions).toEqual(['v1', 'v2']);
  const withoutFirst = read(crds, body(undefined, { versions: [version('v2', { storage: true })] }));
  expect(update(withoutFirst, crd)).toEqual([
    ['status.storedVersions[0]', expect.stringMatching(/^Invalid value: "v1": missing from spec\.versions; v1 was/)],
  ]);
});

test.each([undefined, null, []])(
  'a status update without stored versions gets the current one: %j',
  (storedVersions) => {
    const { crd } = create(body());
    const { status } = crds.subresources ?? {};
    if (status?.type !== 'view') throw new Error('the status is a view');
    const acceptedNames = { plural: 'widgets', kind: 'Widget' };
    const sent = read(crds, { spec: undefined, status: { conditions: null, acceptedNames, storedVersions } });
    expect(status.prepare(sent, crd, context)).toMatchObject({
      spec: crd.spec,
      status: { acceptedNames, storedVersions: ['v1'] },
    });
  },
);

test('violations of the name come before those of other metadata', () => {
  const metadata = { name: 'x', labels: { ',': 'b' } };
  expect(create({ ...body(), metadata }).causes.map(([, field]) => field)).toEqual([
    'metadata.name',
    'metadata.labels',
  ]);
});

test('a conversion strategy is quoted as Go quotes a value of its own string type', () => {
  const conversion = { strategy: 'a&<b' };
  expect(create(body(undefined, { conversion, preserveUnknownFields: true })).causes).toContainEqual([
    'FieldValueInvalid',
    'spec.conversion.strategy',
    'Invalid value: "a\\u0026\\u003cb": must be None if spec.preserveUnknownFields is true',
  ]);
});

test.each<[string, Json, string, string]>([
  ['$schema', 1, 'number', 'v1.JSONSchemaURL'],
  ['definitions', [], 'array', 'v1.JSONSchemaDefinitions'],
  ['dependencies', [], 'array', 'v1.JSONSchemaDependencies'],
])('a keyword of the wrong type is refused with its Go type: %s', (keyword, value, given, type) => {
  const field = `JSONSchemaProps.spec.versions.schema.openAPIV3Schema.${keyword}`;
  const why = `json: cannot unmarshal ${given} into Go struct field ${field} of type ${type}`;
  expect(() => create(body({ [keyword]: value }))).toThrow(why);
});

test('of two versions with the same name, the second is not taken as the stored one', () => {
  const versions = [version('v1'), version('v1', { storage: true })];
  expect(create(body(undefined, { versions })).causes).toContainEqual([
    'FieldValueInvalid',
    'status.storedVersions',
    'Invalid value: ["v1"]: must have the storage version v1',
  ]);
});

test('of two versions with the same name, the first decides about the status subresource', () => {
  const openAPIV3Schema = { type: 'string' };
  const versions = [
    version('v1', { storage: true, subresources: { status: {} } }),
    version('v1', { schema: { openAPIV3Schema } }),
  ];
  expect(create(body(undefined, { versions })).causes).toContainEqual([
    'FieldValueInvalid',
    'spec.versions[1].schema.openAPIV3Schema.type',
    expect.stringContaining('if the status subresource is enabled'),
  ]);
});

test('a selectable field under additionalProperties: true exists, but has no selectable type', () => {
  const schema = { type: 'object', properties: { m: { type: 'object', additionalProperties: true } } };
  const versions = [
    {
      ...version('v1', { storage: true, schema: { openAPIV3Schema: schema } }),
      selectableFields: [{ jsonPath: '.m.a' }],
    },
  ];
  expect(create(body(undefined, { versions })).causes).toEqual([
    [
      'FieldValueInvalid',
      'spec.selectableFields[0].jsonPath',
      expect.stringContaining('must point to a field of type string, boolean or integer'),
    ],
  ]);
});

test('scope and kind are immutable once established, group and plural always', () => {
  const { crd } = create(body());
  const names = { ...crd.spec.names, plural: 'gadgets', kind: 'Gadget' };
  const next = changed(crd, { scope: 'Cluster', group: 'example.org', names });
  expect(update(next, crd).map(([field]) => field)).toEqual(['spec.group', 'spec.names.plural']);
  expect(update(next, established(crd)).map(([field]) => field)).toEqual([
    'spec.scope',
    'spec.names.kind',
    'spec.group',
    'spec.names.plural',
  ]);
});

test('an update may keep violations of the stored definition', () => {
  const set = { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' };
  const schema = (more: JsonObject): JsonObject => ({ type: 'object', properties: { s: set, ...more } });
  const { crd, causes } = create(body(schema({})));
  expect(causes.map(([, field]) => field)).toEqual([
    'spec.validation.openAPIV3Schema.properties[s].items.x-kubernetes-map-type',
  ]);
  const next = read(crds, body(schema({ more: set })));
  expect(update(next, crd)).toEqual([]);
  expect(update(next, create(body()).crd)).toHaveLength(2);
});

test('unknown fields of a default are reported with the default as it would be stored', () => {
  const value = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', unknown: 1 }, more: 2 };
  const pod = {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    properties: { a: { type: 'string' } },
    default: value,
  };
  const { causes } = create(body({ type: 'object', properties: { pod } }));
  expect(causes.map(([, , text]) => text)).toEqual([
    'Invalid value: {"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"more":2}: must not have unknown fields',
  ]);
});

test('rules may stay too expensive in a version whose schema is that of all stored versions', () => {
  const l = {
    type: 'array',
    items: { type: 'string' },
    'x-kubernetes-validations': [{ rule: 'self.all(x, self.all(y, x == y))' }],
  };
  const schema = { openAPIV3Schema: { type: 'object', properties: { l } } };
  const other = { openAPIV3Schema: { type: 'object', properties: { other: l } } };
  const versions = (...schemas: readonly JsonObject[]): JsonObject =>
    body(undefined, { versions: schemas.map((one, at) => version(`v${at + 1}`, { storage: at === 0, schema: one })) });
  const stored = read(crds, versions(schema, schema));
  const next = read(crds, versions(schema, other, schema));
  const dear = (crd: CustomResourceDefinition): readonly string[] =>
    update(next, crd).flatMap(([field = '', text = '']) =>
      text.includes('estimated rule cost exceeds') ? [field.slice(0, 'spec.versions[0]'.length)] : [],
    );
  expect(dear(stored)).toEqual(['spec.versions[1]']);
  expect(dear(read(crds, versions(schema, other)))).toEqual(['spec.versions[2]']);
});

test('the status subresource keeps the spec and checks accepted names', () => {
  const { crd } = create(body());
  const subresource = crds.subresources?.['status'];
  if (subresource?.type !== 'view') throw new Error('no subresource status');
  const next = subresource.prepare(
    { ...changed(crd, { scope: 'Cluster' }), status: { ...crd.status, acceptedNames: { plural: 'A', kind: 'A' } } },
    crd,
    context,
  );
  expect(next.spec.scope).toBe('Namespaced');
  expect(found(subresource.validate?.(next, crd, context)).map(({ field }) => field)).toEqual([
    'status.acceptedNames.plural',
  ]);
});

test('deletion marks the definition and keeps it with a finalizer', () => {
  const { crd } = create(body());
  const marked = crds.deletion?.mark(crd, context);
  expect(marked?.metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io']);
  expect(marked?.status?.conditions).toEqual([
    {
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
      lastTransitionTime: '2024-05-06T07:08:09Z',
    },
  ]);
  expect(marked && crds.deletion?.mark(marked, context)).toEqual(marked);
});

test('of the unsupported keywords, only dependencies is refused even when empty', () => {
  const unsupported = { dependencies: {}, patternProperties: {}, definitions: {} };
  expect(create(body({ type: 'object', ...unsupported })).causes).toEqual([
    ['FieldValueForbidden', 'spec.validation.openAPIV3Schema.dependencies', 'Forbidden: dependencies is not supported'],
  ]);
});

test('both extension prefixes mean the same, and each object keeps its own', () => {
  const schema = { type: 'object', properties: { a: { type: 'string', 'x-api-list-type': 'set' } } };
  const { crd, causes } = create(body(schema));
  expect(causes).toEqual([
    [
      'FieldValueInvalid',
      'spec.validation.openAPIV3Schema.properties[a].type',
      'Invalid value: "string": must be array if x-kubernetes-list-type is specified',
    ],
  ]);
  expect(crd.spec.versions[0]?.schema?.openAPIV3Schema).toEqual(schema);
});

test('protobuf has one field number for both prefixes, and decodes to the usual one', () => {
  const encode = (schema: JsonObject): JsonObject => {
    const bytes = encodeProtobuf(crds.schema, read(crds, body(schema)) as unknown as JsonObject);
    const decoded = runSync(decodeProtobuf(crds.schema, bytes)) as unknown as CustomResourceDefinition;
    return decoded.spec.versions[0]?.schema?.openAPIV3Schema ?? {};
  };
  const flag = { 'x-kubernetes-int-or-string': true, 'x-kubernetes-embedded-resource': false };
  expect(encode({ 'x-kubernetes-int-or-string': true })).toMatchObject(flag);
  expect(encode({ 'x-api-int-or-string': true })).toMatchObject(flag);
  expect(
    encode({ items: { additionalProperties: { type: 'string' } }, not: { additionalProperties: false } }),
  ).toMatchObject({ items: { additionalProperties: { type: 'string' } }, not: { additionalProperties: false } });
});

test.each<[Json, string]>([
  [null, 'Required value: must have a schema if x-kubernetes-list-type is map'],
  [
    5,
    'Invalid value: {"Schema":null,"JSONSchemas":null}: must only have a single schema if x-kubernetes-list-type is map',
  ],
])('the items of a map list are not a schema: %j', (items, why) => {
  const list = { type: 'array', items, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] };
  const { causes } = create(body({ type: 'object', properties: { list } }));
  const field = 'spec.validation.openAPIV3Schema.properties[list].items';
  expect(causes.map(([, ...rest]) => rest)).toEqual([
    [field, 'Required value: must be specified'],
    [field, why],
  ]);
});

test('a schema nested too deep is refused quickly, with the limit', () => {
  let schema: JsonObject = { type: 'object' };
  for (let i = 0; i < 4_000; i++) schema = { type: 'object', properties: { a: schema } };
  const crd = { ...create(body()).crd };
  const next = changed(crd, { versions: [{ ...crd.spec.versions[0], schema: { openAPIV3Schema: schema } }] });
  expect(update(next, crd)).toEqual([
    ['spec.validation.openAPIV3Schema', 'Forbidden: must not be nested deeper than 400 levels'],
  ]);
});

test('a wide schema is checked quickly', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 15_000 }, (_, at) => [`p${at}`, { type: 'string', default: 1 }]),
  );
  const { causes } = create(body({ type: 'object', properties }));
  expect(causes).toHaveLength(15_000);
});

test('properties may have any name', () => {
  const schema = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"nope"},"constructor":{"type":"string"}}}',
  ) as JsonObject;
  const { crd, causes } = create(body(schema));
  expect(causes.map(([, field]) => field)).toEqual(['spec.validation.openAPIV3Schema.properties[__proto__].type']);
  expect(JSON.stringify(crd.spec.versions[0]?.schema?.openAPIV3Schema)).toContain('__proto__');
});

const word = fc.constantFrom(
  ...['type', 'properties', 'items', 'allOf', 'anyOf', 'oneOf', 'not', 'additionalProperties', 'default', 'enum'],
  ...['required', 'nullable', 'pattern', 'format', 'minimum', 'multipleOf', 'maxLength', 'x-kubernetes-list-type'],
  ...['x-kubernetes-list-map-keys', 'x-kubernetes-map-type', 'x-kubernetes-int-or-string', 'x-kubernetes-validations'],
  ...['x-kubernetes-embedded-resource', 'x-kubernetes-preserve-unknown-fields', 'metadata', 'a', '__proto__'],
);
const leaf = fc.constantFrom<Json>(
  ...['object', 'array', 'string', 'integer', 'set', 'map', 'atomic', 'a', '(', '', 'date'],
  ...[true, false, null, 0, -1, 1.5],
);
const { schemaLike } = fc.letrec<{ schemaLike: Json }>((tie) => ({
  schemaLike: fc.oneof(
    { maxDepth: 6 },
    leaf,
    fc.dictionary(word, tie('schemaLike'), { maxKeys: 5 }),
    fc.array(tie('schemaLike'), { maxLength: 3 }),
  ),
}));
const silent: RequestContext = context;

test('validation never throws on schema-like values', () => {
  fc.assert(
    fc.property(schemaLike, schemaLike, (first, second) => {
      const crd = (schema: Json): CustomResourceDefinition =>
        ({
          kind: 'CustomResourceDefinition',
          apiVersion: 'apiextensions.k8s.io/v1',
          metadata: { name: 'widgets.example.com' },
          spec: { ...spec(), versions: [version('v1', { schema: { openAPIV3Schema: schema } })] },
        }) as unknown as CustomResourceDefinition;
      const next = crds.defaults?.(crd(first)) as CustomResourceDefinition;
      expect(Array.isArray(found(crds.validate?.(next, undefined, silent)))).toBe(true);
      expect(Array.isArray(found(crds.validate?.(next, crd(second), silent)))).toBe(true);
      crds.warnings?.(next, crd(second));
    }),
    { numRuns: 300 },
  );
});

test('definition-like values are refused in decoding, or validated without throwing', () => {
  const stored = create({ metadata: { name: 'widgets.example.com' }, spec: spec() }).crd;
  const decode = compileDecoder(crds.schema);
  const member = fc.constantFrom('group', 'names', 'scope', 'versions', 'conversion', 'plural', 'kind', 'name', 'a');
  const { specLike } = fc.letrec<{ specLike: Json }>((tie) => ({
    specLike: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.dictionary(member, tie('specLike'), { maxKeys: 4 }),
      fc.array(tie('specLike'), { maxLength: 2 }),
    ),
  }));
  fc.assert(
    fc.property(fc.record({ metadata: specLike, spec: specLike, status: specLike }), (given) => {
      let decoded: CustomResourceDefinition;
      try {
        decoded = decode(given as JsonObject) as unknown as CustomResourceDefinition;
      } catch (error) {
        expect(error).toBeInstanceOf(DecodeError);
        return;
      }
      const defaulted = runSync(resultOf(crds.defaults?.(decoded) ?? decoded));
      for (const previous of [undefined, stored]) {
        const next = crds.prepare?.(defaulted, previous, silent) ?? decoded;
        expect(Array.isArray(found(crds.validate?.(next, previous, silent)))).toBe(true);
        crds.newGeneration?.(next, next);
      }
    }),
    { numRuns: 200 },
  );
});
