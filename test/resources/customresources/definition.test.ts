import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CustomResourceDefinition } from '../../../src/api/kinds/custom-resource-definition.js';
import { nameRules } from '../../../src/api/names.js';
import {
  type ApiObject,
  type Json,
  type JsonObject,
  type Unstructured,
  unstructured,
} from '../../../src/api/object.js';
import { runSync } from '../../../src/api/steps.js';
import { invalid, required, tooLong } from '../../../src/api/violations.js';
import { validateMetadata } from '../../../src/registry/metadata-rules.js';
import type { ResourceDefinition, SubresourceView } from '../../../src/registry/resource-definition.js';
import { customResourceDefinitions } from '../../../src/resources/customresourcedefinitions/definition.js';
import { customResourcesOf } from '../../../src/resources/customresources/definition.js';
import { DecodeError } from '../../../src/schema/decode-error.js';
import { context, found, read } from '../write.js';

const crds = customResourceDefinitions();
const namesAccepted = (body: object): CustomResourceDefinition => {
  const crd = read(crds, body);
  return { ...crd, status: { ...crd.status, acceptedNames: crd.spec.names } };
};

interface Step {
  readonly id: string;
  readonly body: JsonObject;
  readonly causes?: readonly (readonly [string, string, string])[];
  /** The error of a body that cannot be decoded. */
  readonly message?: string;
  /** The object without metadata. */
  readonly object?: JsonObject;
  readonly warnings?: readonly string[] | null;
}
// Responses of Kubernetes 1.36.
const recorded = JSON.parse(readFileSync(new URL('./recorded.json.txt', import.meta.url), 'utf8')) as readonly {
  readonly name: string;
  readonly crd: JsonObject;
  readonly steps: readonly Step[];
}[];

const codecOf = (definition: ResourceDefinition): NonNullable<ResourceDefinition['codec']> => {
  if (definition.codec === undefined) throw new Error('no codec');
  return definition.codec;
};
const decode = (definition: ResourceDefinition, body: JsonObject) => {
  if (definition.reader === undefined) throw new Error('no reader');
  return runSync(definition.reader.decode(body, { isGenerated: false }));
};

function create(definition: ResourceDefinition, body: JsonObject) {
  const { object, unknownFields } = decode(definition, body);
  const next = definition.prepare?.(object, undefined, context) ?? object;
  const { namespaced } = definition;
  const inNamespace = namespaced ? { ...next, metadata: { ...next.metadata, namespace: 'x' } } : next;
  const violations = [
    ...found(validateMetadata(inNamespace, { namespaced, nameRule: nameRules.dnsSubdomain, strictFinalizers: false })),
    ...found(definition.validate?.(next, undefined, context)),
  ];
  return {
    object: next,
    causes: violations.map(({ reason, field, body: text }) => `${reason} ${field} ${text}`),
    warnings: [
      ...(definition.deprecation === undefined ? [] : [definition.deprecation]),
      ...unknownFields.map((path) => `unknown field "${path}"`),
      ...(definition.warnings?.(next, undefined) ?? []),
    ],
  };
}

describe.each(recorded.map(({ name, crd, steps }) => [name, crd, steps] as const))('%s', (_, crd, steps) => {
  const definitions = customResourcesOf(namesAccepted(crd));
  test.each(steps.map((step) => [step.id, step] as const))('%s', (_id, step) => {
    const definition = definitions.find(({ group, version }) => `${group}/${version}` === step.body['apiVersion']);
    if (definition === undefined) throw new Error('no such version');
    if (step.message !== undefined) {
      expect(() => create(definition, step.body)).toThrow(step.message.split(' cannot be handled as a Widget: ')[1]);
      return;
    }
    const { object, causes, warnings } = create(definition, step.body);
    expect([...causes].sort()).toEqual((step.causes ?? []).map((cause) => cause.join(' ')).sort());
    if (step.causes !== undefined) return;
    const { metadata: _metadata, ...rest } = object;
    if (step.object !== undefined) expect(rest).toEqual(step.object);
    if (step.warnings) expect(warnings).toEqual(step.warnings);
  });
});

const widgets = (schema: JsonObject, more: JsonObject = {}, spec: JsonObject = {}): JsonObject => ({
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['w'] },
    scope: 'Namespaced',
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...more }],
    ...spec,
  },
});
const one = (schema: JsonObject, more: JsonObject = {}, spec: JsonObject = {}): ResourceDefinition => {
  const [definition] = customResourcesOf(namesAccepted(widgets(schema, more, spec)));
  if (definition === undefined) throw new Error('nothing is served');
  return definition;
};
const widget = (more: JsonObject): JsonObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'x' },
  ...more,
});
const asObject = (value: JsonObject): ApiObject => value as unknown as ApiObject;
const ofSpec = (properties: JsonObject): JsonObject => ({
  type: 'object',
  properties: { spec: { type: 'object', properties } },
});
const fieldsOf = (definition: ResourceDefinition, next: JsonObject, previous?: JsonObject): readonly string[] =>
  found(definition.validate?.(asObject(next), previous && asObject(previous), context)).map(({ field }) => field);

test('the definition of a version has the accepted names and the fields of every resource', () => {
  const definition = one(ofSpec({ a: { type: 'string' } }));
  expect(definition).toMatchObject({
    group: 'example.com',
    version: 'v1',
    plural: 'widgets',
    singular: 'widget',
    kind: 'Widget',
    listKind: 'WidgetList',
    shortNames: ['w'],
    namespaced: true,
    origin: 'custom',
  });
  expect([...(definition.schema.properties?.keys() ?? [])]).toEqual(['spec', 'kind', 'apiVersion', 'metadata']);
});

test('unknown fields of metadata are reported without quoting, like others', () => {
  const odd = { '"q"': 1, 'a\\b': 1, 'a\nb': 1 };
  const { unknownFields } = decode(one(ofSpec({})), widget({ metadata: { name: 'n', ...odd }, spec: odd }));
  const names = ['"q"', 'a\nb', 'a\\b'];
  expect(unknownFields).toEqual(['metadata', 'spec'].flatMap((at) => names.map((name) => `${at}.${name}`)));
});

test('unknown fields of metadata are reported sorted by name, before the others', () => {
  const owner = { b: 1, a: 1, apiVersion: 'v1', kind: 'X', name: 'x', uid: '1' };
  const metadata = { name: 'x', d: { z: 1 }, c: 1, ownerReferences: [owner] };
  expect(decode(one(ofSpec({})), widget({ metadata, a: 1 })).unknownFields).toEqual([
    'metadata.c',
    'metadata.d',
    'metadata.ownerReferences[0].a',
    'metadata.ownerReferences[0].b',
    'a',
  ]);
});

test('schema and columns are read lazily and once', () => {
  const read: string[] = [];
  const telling = (name: string, value: Json): PropertyDescriptor => ({
    enumerable: true,
    get: () => {
      read.push(name);
      return value;
    },
  });
  const crd = namesAccepted(widgets({}));
  Object.defineProperties(crd.spec.versions[0], {
    schema: telling('schema', { openAPIV3Schema: ofSpec({}) }),
    additionalPrinterColumns: telling('columns', [{ name: 'A', type: 'string', jsonPath: '.spec.a' }]),
  });
  const [definition] = customResourcesOf(crd);
  expect([definition?.plural, read]).toEqual(['widgets', []]);
  expect([definition?.columns?.map(({ name }) => name), read]).toEqual([['A'], ['columns']]);
  expect(definition?.schema.properties?.has('spec')).toBe(true);
  expect([definition?.columns, definition?.schema]).toEqual([definition?.columns, definition?.schema]);
  fieldsOf(definition as ResourceDefinition, widget({}));
  expect(read).toEqual(['columns', 'schema']);
});

describe('ratcheting', () => {
  const short = { type: 'string', maxLength: 1 };
  const item = { type: 'object', properties: { k: { type: 'string' }, v: short } };
  const list = (more: JsonObject): JsonObject => ({ type: 'array', items: item, ...more });
  const definition = one(
    ofSpec({
      a: short,
      o: { type: 'object', properties: { a: short } },
      map: list({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }),
      atomic: list({ 'x-kubernetes-list-type': 'atomic' }),
      set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      any: { type: 'string', anyOf: [{ maxLength: 1 }] },
    }),
  );
  const both = (next: JsonObject, previous: JsonObject): readonly string[] =>
    fieldsOf(definition, widget({ spec: next }), widget({ spec: previous }));
  const long = { k: 'a', v: 'long' };

  test.each<[string, JsonObject, JsonObject, readonly string[]]>([
    ['an unchanged value passes', { a: 'long', o: {} }, { a: 'long' }, []],
    ['a changed value is validated', { a: 'longer' }, { a: 'long' }, ['spec.a']],
    ['an added value is validated', { o: { a: 'long' } }, {}, ['spec.o.a']],
    ['items of a map list are correlated by their keys', { map: [{ k: 'b' }, long] }, { map: [long] }, []],
    ['items with new keys are new', { map: [{ k: 'b', v: 'long' }] }, { map: [long] }, ['spec.map[0].v']],
    ['an atomic list is compared as a whole', { atomic: [long] }, { atomic: [long] }, []],
    [
      'any change to an atomic list validates all its items',
      { atomic: [long, { k: 'b' }] },
      { atomic: [long] },
      ['spec.atomic[0].v'],
    ],
    ['a set with duplicates may get more', { set: ['a', 'a', 'b', 'b'] }, { set: ['a', 'a'] }, []],
    ['a set without duplicates may not get any', { set: ['a', 'a'] }, { set: ['a'] }, ['spec.set[1]']],
  ])('%s', (_, next, previous, fields) => {
    expect(both(next, previous)).toEqual(fields);
  });
});

describe('the subresource status', () => {
  const schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { n: { type: 'integer' } } },
      status: { type: 'object', properties: { a: { type: 'string' } } },
    },
  };
  const definition = one(schema, { subresources: { status: {} } });
  const subresource = definition.subresources?.['status'] as SubresourceView<ApiObject>;

  test('updates of the resource itself neither set nor change the status', () => {
    const sent = asObject(widget({ spec: {}, status: { a: 'x' } }));
    expect(definition.prepare?.(sent, undefined, context)).not.toHaveProperty('status');
    const stored = asObject(widget({ status: { a: 'y' } }));
    expect(definition.prepare?.(sent, stored, context)).toMatchObject({ status: { a: 'y' } });
  });

  test('updates of the subresource change only the status and managed fields', () => {
    const stored = asObject(widget({ spec: { n: 1 }, status: { a: 'y' } }));
    const sent: ApiObject = {
      ...asObject(widget({ spec: { n: 2 }, status: { a: 'z' } })),
      metadata: { name: 'x', labels: { a: 'b' }, managedFields: [{ manager: 'm' }] },
    };
    expect(subresource.prepare(sent, stored, context)).toEqual({
      ...stored,
      metadata: { name: 'x', managedFields: [{ manager: 'm' }] },
      status: { a: 'z' },
    });
  });

  test('violations have their field under status, and texts relative to it', () => {
    const stored = asObject(widget({}));
    const sent = asObject(widget({ status: { a: 1 } }));
    expect(found(subresource.validate?.(sent, stored, context))).toEqual([
      {
        reason: 'FieldValueTypeInvalid',
        field: 'status.a',
        body: 'Invalid value: "integer": a in body must be of type string: "integer"',
      },
    ]);
  });

  test('the generation grows with changes outside metadata', () => {
    const stored = asObject(widget({ spec: { n: 1 } }));
    expect(definition.newGeneration?.({ ...stored, metadata: { name: 'x', labels: { a: 'b' } } }, stored)).toBe(false);
    expect(definition.newGeneration?.(asObject(widget({ spec: { n: 2 } })), stored)).toBe(true);
  });
});

describe('conversion between versions', () => {
  const version = (name: string, properties: JsonObject, storage: boolean): JsonObject => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: ofSpec(properties) },
  });
  const text = { type: 'string' };
  const crd = namesAccepted(
    widgets(
      {},
      {},
      {
        versions: [
          version('v1', { a: text, one: { ...text, default: 'stored' } }, true),
          version('v2', { a: text, one: { ...text, default: 'served' }, two: { ...text, default: 'x' } }, false),
        ],
      },
    ),
  );
  const [v1, v2] = customResourcesOf(crd);

  test('reading applies the defaults of the stored version, not those of the served one', () => {
    const read = v2?.codec?.read(widget({ spec: { a: 'b', gone: 1 } }));
    expect(read).toMatchObject({ apiVersion: 'example.com/v2', spec: { a: 'b', one: 'stored' } });
    expect(read).toHaveProperty('spec', { a: 'b', one: 'stored' });
  });

  test('objects are stored in the storage version, without its unknown fields', () => {
    const decoded = v2 && decode(v2, { ...widget({ spec: { a: 'b' } }), apiVersion: 'example.com/v2' });
    expect(decoded?.object).toHaveProperty('spec', { a: 'b', one: 'served', two: 'x' });
    const stored = decoded && v2?.codec?.store(decoded.object);
    expect(stored).toMatchObject({ apiVersion: 'example.com/v1', spec: { a: 'b', one: 'served' } });
    expect(stored?.['spec']).not.toHaveProperty('two');
  });

  describe('an embedded resource in the stored version only', () => {
    const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true };
    const any = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const versions = [
      version('v1', { e: embedded, list: { type: 'array', items: embedded } }, true),
      version('v2', { e: any, list: { type: 'array', items: any } }, false),
    ];
    const definitions = customResourcesOf(namesAccepted(widgets({}, {}, { versions })));
    const [inStored, inOther] = definitions.map(codecOf);
    const e = { apiVersion: 'v1', kind: 'X' };

    test.each<[string, JsonObject, string]>([
      [
        'a non-string apiVersion',
        { e: { ...e, apiVersion: 1 } },
        'spec.e.apiVersion: Invalid value: 1: must be a string',
      ],
      [
        'a non-string kind',
        { list: [e, { ...e, kind: [] }] },
        'spec.list[1].kind: Invalid value: []: must be a string',
      ],
      [
        'unreadable metadata',
        { e: { ...e, metadata: { name: 5, labels: { a: 7 } } } },
        'spec.e.metadata: Invalid value: {"labels":{"a":7},"name":5}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
      ],
      [
        'metadata that are not an object',
        { e: { ...e, metadata: 'x' } },
        'spec.e.metadata: Invalid value: "x": json: cannot unmarshal string into Go value of type v1.ObjectMeta',
      ],
    ])('is refused with %s rather than dropped', (_, spec, message) => {
      const object = asObject({ ...widget({ spec }), apiVersion: 'example.com/v2' });
      expect(() => inOther?.store(object)).toThrow(expect.objectContaining({ code: 500, message }));
    });

    test('is read whatever is stored, without its unreadable parts', () => {
      const stored = widget({ spec: { e: { ...e, apiVersion: 1, metadata: { name: 5, labels: { a: 'b' } } } } });
      const left = { e: { kind: 'X', metadata: { labels: { a: 'b' } } } };
      for (const codec of [inStored, inOther]) expect(codec?.read(stored)).toHaveProperty('spec', left);
    });
  });

  test('objects stored without a generation have generation 1', () => {
    expect(v1?.codec?.read(widget({})).metadata.generation).toBe(1);
    expect(v1?.codec?.read(widget({ metadata: { name: 'x', generation: 5 } })).metadata.generation).toBe(5);
  });
});

test('while a definition is terminating, creation is refused and discovery has no write verbs', () => {
  const crd = namesAccepted(widgets({ type: 'object' }));
  const [definition] = customResourcesOf({ ...crd, metadata: { ...crd.metadata, deletionTimestamp: 'now' } });
  expect(definition?.verbs).toEqual(['delete', 'deletecollection', 'get', 'list', 'watch']);
  expect(() => definition?.prepare?.(asObject(widget({})), undefined, context)).toThrow(
    'widgets.example.com "x" is forbidden: create not allowed while custom resource definition is terminating',
  );
  expect(definition?.prepare?.(asObject(widget({})), asObject(widget({})), context)).toBeDefined();
});

test('selectable fields', () => {
  const { selectableFields } = one(ofSpec({ color: { type: 'string' }, n: { type: 'integer' } }), {
    selectableFields: [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.n' }],
  });
  const object = asObject(widget({ spec: { n: 0 } }));
  expect(Object.entries(selectableFields ?? {}).map(([name, get]) => [name, get(object)])).toEqual([
    ['spec.color', ''],
    ['spec.n', '0'],
  ]);
});

test('tables show the defined columns, and a cell ends where its path cannot be evaluated', () => {
  const definition = one(
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    {
      additionalPrinterColumns: [
        { name: 'Any', type: 'string', jsonPath: '.spec.any' },
        { name: 'Whole', type: 'integer', jsonPath: '.spec.number', priority: 1 },
        { name: 'Flag', type: 'boolean', jsonPath: '.spec.any', description: 'a flag' },
        { name: 'When', type: 'date', jsonPath: '.spec.when' },
        { name: 'Number', type: 'number', jsonPath: '.spec.number', description: 'a float' },
        { name: 'Bad', type: 'string', jsonPath: '.spec[' },
        { name: 'Later', type: 'string', jsonPath: '.spec.any' },
      ],
    },
  );
  const cells = (spec: JsonObject): readonly unknown[] =>
    (definition.columns ?? []).map(({ cell }) => cell(asObject(widget({ spec })), context.now));
  expect(cells({ number: 2n ** 53n + 1n }).slice(1)).toEqual([2n ** 53n + 1n, null, null, 2 ** 53]);
  expect(definition.columns?.map(({ name, description, priority }) => [name, description, priority])).toEqual([
    ['Any', 'Custom resource definition column (in JSONPath format): .spec.any', undefined],
    ['Whole', 'Custom resource definition column (in JSONPath format): .spec.number', 1],
    ['Flag', 'a flag', undefined],
    ['When', 'Custom resource definition column (in JSONPath format): .spec.when', undefined],
    ['Number', 'a float', undefined],
  ]);
  expect(cells({ any: { b: [1, '<'], a: [{ y: 1, x: 2 }] }, number: 1.9, when: '2024-05-06T07:07:09Z' })).toEqual([
    '{"a":[{"x":2,"y":1}],"b":[1,"\\u003c"]}',
    1n,
    null,
    '60s',
    1.9,
  ]);
  expect(cells({ any: null, number: 'x', when: 'never' })).toEqual(['<no value>', null, null, '<invalid>', null]);
  expect(cells({ any: true, when: '2030-01-01T00:00:00Z' })).toEqual(['true', null, true, '<invalid>', null]);
  expect(one({ type: 'object' }).columns?.map(({ name, type }) => [name, type])).toEqual([['Age', 'date']]);
});

test.each([
  ['2024-05-06T07:07:09Z', '60s'],
  ['2024-05-06T07:07:09,5Z', '60s'],
  ['2024-05-06T7:07:09Z', '60s'],
  ['2024-05-07T07:07:09+24:00', '60s'],
  ['0001-01-01T00:00:00Z', '<unknown>'],
  ['0001-01-01T01:00:00+01:00', '<unknown>'],
  ['0001-01-02T00:00:00Z', '292y'],
  ['', '<unknown>'],
  ['null', '<unknown>'],
  ['2024-02-30T00:00:00Z', '<invalid>'],
  ['2023-02-29T00:00:00Z', '<invalid>'],
  ['2024-05-06T24:00:00Z', '<invalid>'],
  ['2024-05-06', '<invalid>'],
])('the date %j is shown as %s', (when, expected) => {
  const { columns = [] } = one(
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    { additionalPrinterColumns: [{ name: 'When', type: 'date', jsonPath: '.spec.when' }] },
  );
  const object = asObject(widget({ spec: { when } }));
  expect(columns.map(({ cell }) => cell(object, context.now))).toEqual([expected]);
});

test('a byte of a string is shown in string columns only', () => {
  const types = ['string', 'integer', 'number', 'boolean', 'date'];
  const { columns = [] } = one(
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    { additionalPrinterColumns: types.map((type) => ({ name: type, type, jsonPath: '.spec.when.*' })) },
  );
  const object = asObject(widget({ spec: { when: '2024-05-06T07:07:09Z' } }));
  expect(columns.map(({ cell }) => cell(object, context.now))).toEqual(['50', null, null, null, null]);
});

test('in a table with many columns, no cell shows a large value', () => {
  const definition = one(
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    {
      additionalPrinterColumns: ['.spec.large', '.spec.text', ...Array(998).fill('.spec.small')].map(
        (jsonPath, at) => ({
          name: `C${at}`,
          type: 'string',
          jsonPath,
        }),
      ),
    },
  );
  const spec = { large: Array.from({ length: 2_000 }, () => 1), text: 'x'.repeat(100_000), small: 'x'.repeat(100) };
  const cells = (definition.columns ?? []).map(({ cell }) => cell(asObject(widget({ spec })), context.now));
  expect(cells.slice(0, 3)).toEqual([null, null, spec.small]);
});

describe('scale', () => {
  const definition = one(
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    {
      subresources: {
        scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n', labelSelectorPath: '.status.s' },
      },
    },
  );
  const subresource = definition.subresources?.['scale'];
  if (subresource?.type !== 'projection') throw new Error('no scale');

  test('shows the numbers and the selector', () => {
    const object = asObject(widget({ spec: { n: 3 }, status: { n: 2, s: 'a=b' } }));
    expect(subresource.read(object)).toEqual({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'x' },
      spec: { replicas: 3 },
      status: { replicas: 2, selector: 'a=b' },
    });
  });

  test('without spec replicas it cannot be read, but can be written', () => {
    const object = asObject(widget({}));
    expect(() => subresource.read(object)).toThrow('the spec replicas field ".spec.n" does not exist');
    const start = subresource.readForWrite?.(object);
    expect(() => subresource.write(object, start ?? object)).toThrow(
      'the spec replicas field ".spec.n" cannot be empty',
    );
    const scaled: Unstructured = { ...(start ?? object), spec: { replicas: 4 } };
    const written = subresource.write(object, scaled);
    expect(written).toHaveProperty('spec', { n: 4 });
  });

  test('a write without spec replicas is answered, too, as the schema may prune them', () => {
    expect(subresource.readWritten?.(asObject(widget({})))).toMatchObject({ spec: {}, status: { replicas: 0 } });
  });
});

describe('validation rules', () => {
  const schema = { ...ofSpec({ a: { type: 'string' } }), 'x-kubernetes-validations': [{ rule: 'false' }] };
  const definition = one(schema);

  test('are evaluated for otherwise valid objects', () => {
    const violations = found(definition.validate?.(asObject(widget({})), undefined, context));
    expect(violations.map(({ field, body }) => [field, body])).toEqual([
      ['<nil>', 'Invalid value: failed rule: false'],
    ]);
  });

  test('are skipped for invalid objects, and the answer says so', () => {
    const violations = found(definition.validate?.(asObject(widget({ spec: 1 })), undefined, context));
    expect(violations.map(({ field }) => field)).toEqual(['spec', '<nil>']);
  });

  test.each([
    [required('metadata.name'), true],
    [tooLong('metadata.annotations', 262_144), true],
    [invalid('metadata.name', 'A', 'not a name'), false],
  ])('are skipped or not when metadata has %j', (wrong, blocks) => {
    const violations = found(definition.validate?.(asObject(widget({})), undefined, context, { inMetadata: [wrong] }));
    expect(violations.map(({ body }) => body)).toEqual([
      blocks
        ? 'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'
        : 'Invalid value: failed rule: false',
    ]);
  });
});

test('member names such as __proto__ are ordinary names', () => {
  const definition = one(ofSpec({ m: { type: 'object', additionalProperties: { type: 'integer' } } }));
  const body = JSON.parse(
    '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"x","annotations":{"__proto__":"a"}},"spec":{"m":{"__proto__":1,"constructor":2},"__proto__":{"polluted":1}}}',
  ) as JsonObject;
  const { object, unknownFields } = decode(definition, body);
  expect(unknownFields).toEqual(['spec.__proto__']);
  expect(JSON.stringify(unstructured(object)['spec'])).toBe('{"m":{"__proto__":1,"constructor":2}}');
  expect(Object.keys({})).toEqual([]);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

const { any } = fc.letrec<{ any: Json }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom<Json>(null, true, 0, 1.5, 2 ** 60, -1, '', 'a', '2024-01-01'),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'kind', 'apiVersion', 'metadata', '__proto__'), tie('any'), {
      maxKeys: 4,
    }),
    fc.array(tie('any'), { maxLength: 4 }),
  ),
}));
const strict = one(
  ofSpec({
    a: { type: 'string', minLength: 1, pattern: '^a', format: 'date', nullable: true },
    b: {
      type: 'array',
      items: { type: 'object', properties: { a: { type: 'string' } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a'],
    },
    c: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
    },
    metadata: { type: 'array', items: { 'x-kubernetes-int-or-string': true }, 'x-kubernetes-list-type': 'set' },
    kind: { type: 'number', multipleOf: 0.5, maximum: 1, default: 1, enum: [1, 0.5] },
  }),
);

test('any JSON is refused, or results in an object that can be stored and read', () => {
  fc.assert(
    fc.property(any, any, any, (spec, metadata, old) => {
      const codec = codecOf(strict);
      let object: ApiObject;
      try {
        ({ object } = decode(strict, widget({ spec, metadata })));
      } catch (error) {
        expect(error).toBeInstanceOf(DecodeError);
        return;
      }
      const previous = codec.read(widget({ spec: old }));
      expect(Array.isArray(found(strict.validate?.(object, previous, context)))).toBe(true);
      const stored = codec.store(object);
      expect(codec.store(codec.read(stored))).toEqual(codec.store(codec.read(codec.store(codec.read(stored)))));
      expect(decode(strict, stored).unknownFields).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test.each<[string, (depth: number) => Json]>([
  ['objects', (depth) => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`) as Json],
  ['lists', (depth) => JSON.parse(`${'['.repeat(depth)}1${']'.repeat(depth)}`) as Json],
])('%s nested as deep as bodies allow are handled', (_, nested) => {
  const definition = one(
    ofSpec({
      free: { 'x-kubernetes-preserve-unknown-fields': true },
      typed: { type: 'string' },
      set: { type: 'array', items: { 'x-kubernetes-preserve-unknown-fields': true }, 'x-kubernetes-list-type': 'set' },
    }),
  );
  const deep = nested(9_000);
  const { object } = decode(definition, widget({ spec: { free: deep, typed: deep, set: [deep, deep] } }));
  expect(fieldsOf(definition, object as unknown as JsonObject)).toEqual(['spec.typed', 'spec.set[1]']);
  const valid = widget({ spec: { free: deep } });
  expect(fieldsOf(definition, valid, valid)).toEqual([]);
  expect(codecOf(definition).store(asObject(valid))['spec']).toEqual({ free: expect.anything() });
});

test('of several unreadable members of metadata, the first by name is reported', () => {
  const metadata = { name: 5, labels: { b: true, a: 1 }, generation: 'x' };
  expect(() => decode(one(ofSpec({})), { ...widget({}), metadata })).toThrow(
    'json: cannot unmarshal string into Go struct field ObjectMeta.generation of type int64',
  );
  expect(() => decode(one(ofSpec({})), { ...widget({}), metadata: { name: 5, labels: { b: true, a: 1 } } })).toThrow(
    'json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
  );
});

test('an empty list of managers is dropped, also in an embedded resource', () => {
  const definition = one(ofSpec({ e: { type: 'object', 'x-kubernetes-embedded-resource': true } }));
  const e = { apiVersion: 'v1', kind: 'X', metadata: { name: 'x', managedFields: [] } };
  const body = { ...widget({ spec: { e } }), metadata: { name: 'w', managedFields: [] } };
  const { metadata, spec } = decode(definition, body).object as unknown as JsonObject;
  expect(spec).toEqual({ e: { ...e, metadata: { name: 'x' } } });
  expect(metadata).toEqual({ name: 'w' });
});
