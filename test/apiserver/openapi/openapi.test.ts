import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/api/object.js';
import { runSync, type Steps } from '../../../src/api/steps.js';
import { documentHash } from '../../../src/apiserver/discovery.js';
import { openApiV2Json } from '../../../src/apiserver/openapi/v2.js';
import { v2Protobuf } from '../../../src/apiserver/openapi/v2-protobuf.js';
import { openApiV3Index, openApiV3 as openApiV3Json } from '../../../src/apiserver/openapi/v3.js';
import type { ResourceDefinition } from '../../../src/registry/resource-definition.js';
import * as b from '../../../src/schema/builder.js';
import { objectMeta, typeMeta } from '../../../src/schema/meta.js';
import { WireReader } from '../../../src/schema/protobuf/wire-format.js';
import type { Schema } from '../../../src/schema/schema.js';
import { configMap, props } from '../../schema/kinds.js';

const of = (schema: Schema, more: Partial<ResourceDefinition> & { readonly kind: string }): ResourceDefinition => ({
  origin: 'built-in',
  group: '',
  version: 'v1',
  plural: `${more.kind.toLowerCase()}s`,
  singular: more.kind.toLowerCase(),
  listKind: `${more.kind}List`,
  namespaced: true,
  schema,
  ...more,
});
const configMaps = of(configMap, { kind: 'ConfigMap' });

const properties = (members: Readonly<Record<string, Schema>>): Schema => ({
  type: 'object',
  properties: new Map(Object.entries({ ...typeMeta, metadata: objectMeta, ...members })),
});
const spec: Schema = {
  type: 'object',
  description: 'the spec',
  required: ['size', 'when'],
  properties: new Map<string, Schema>([
    ['size', { type: 'string', enum: ['a', 'b'], default: 'a' }],
    ['port', { intOrString: true }],
    ['odd', { intOrString: true, anyOf: [{ minimum: 1 }] }],
    ['ports', { type: 'array', items: { type: 'object' }, listType: 'map', listMapKeys: ['name'] }],
    ['free', { preserveUnknownFields: true, type: 'object', properties: new Map([['x', { type: 'string' }]]) }],
    ['when', { type: 'string', format: 'date-time', nullable: true }],
    ['tmpl', { type: 'object', embeddedResource: true, required: ['kind'] }],
    ['__proto__', { type: 'string' }],
  ]),
  validations: [{ rule: 'true', message: 'no' }],
  anyOf: [{ required: ['port'] }],
};
const widgets = of(properties({ spec }), {
  kind: 'Widget',
  origin: 'custom',
  group: 'example.com',
  namespaced: false,
  subresources: { status: { type: 'view', prepare: (next) => next } },
});

const read = (pieces: Steps<readonly Buffer[]>): JsonObject => JSON.parse(Buffer.concat(runSync(pieces)).toString());
const openApiV2 = (definitions: readonly ResourceDefinition[]): JsonObject => read(openApiV2Json(definitions));
const openApiV3 = (
  definitions: readonly ResourceDefinition[],
  { group, version }: Pick<ResourceDefinition, 'group' | 'version'>,
): JsonObject => read(openApiV3Json(definitions.filter((one) => one.group === group && one.version === version)));

const at = (document: JsonObject, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (value as JsonObject)[name], document);

describe('OpenAPI 3', () => {
  const core = openApiV3([configMaps, widgets], configMaps);
  const custom = openApiV3([configMaps, widgets], widgets);

  test('a document contains the schemas reachable from its paths, and nothing else', () => {
    expect(Object.keys(at(custom, 'components', 'schemas') as object)).toEqual([
      'com.example.v1.Widget',
      'com.example.v1.WidgetList',
      ...[
        'DeleteOptions',
        'FieldsV1',
        'ListMeta',
        'ManagedFieldsEntry',
        'ObjectMeta',
        'OwnerReference',
        'Patch',
        'Preconditions',
        'ShardInfo',
        'Status',
        'StatusCause',
        'StatusDetails',
        'Time',
      ].map((name) => `io.k8s.apimachinery.pkg.apis.meta.v1.${name}`),
    ]);
    expect(Object.keys(custom['paths'] as object)).toEqual([
      '/apis/example.com/v1/widgets',
      '/apis/example.com/v1/widgets/{name}',
      '/apis/example.com/v1/widgets/{name}/status',
    ]);
  });

  test.each<[string, readonly string[], boolean]>([
    ['', ['/v1'], true],
    ['a.b', ['/v1', 'a.b/v1'], true],
    ['example.com', ['/v1'], false],
  ])(
    'common components belong to a built-in group as well, but not to a custom one: %s',
    (group, versions, isSecured) => {
      const document = openApiV3([configMaps, of(configMap, { kind: 'Other', group: 'a.b' }), widgets], {
        group,
        version: 'v1',
      });
      const options = at(document, 'components', 'schemas', 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions');
      expect(options).toMatchObject({
        'x-kubernetes-group-version-kind': versions.map((each) => {
          const [called, version] = each.split('/');
          return { group: called, kind: 'DeleteOptions', version };
        }),
      });
      expect('securitySchemes' in (document['components'] as object)).toBe(isSecured);
    },
  );

  test.each<[ResourceDefinition['returnsDeleted'], string]>([
    [undefined, 'apimachinery.pkg.apis.meta.v1.Status'],
    ['untold', 'apimachinery.pkg.apis.meta.v1.Status'],
    [true, 'api.core.v1.ConfigMap'],
  ])('the response of a deletion is a Status, or the object if it is returned: %s', (answersDeleted, component) => {
    const definition = { ...configMaps, ...(answersDeleted === undefined ? {} : { returnsDeleted: answersDeleted }) };
    const item = at(openApiV3([definition], definition), 'paths', '/api/v1/namespaces/{namespace}/configmaps/{name}');
    const answer = at(item as JsonObject, 'delete', 'responses', '200', 'content', 'application/json', 'schema');
    expect(answer).toEqual({ $ref: `#/components/schemas/io.k8s.${component}` });
  });

  test('nullable fields have no default, even where code fills them in', () => {
    const bare = b.struct('v1.Bare', {
      ...typeMeta,
      seconds: b.optional(4, b.integer64(), { presence: 'null', fills: 5, description: 'How long.' }),
      part: b.optional(5, b.struct('v1.Part', {}, { component: 'Part' }), { presence: 'null', description: 'Which.' }),
    });
    const bares = of({ ...bare, wire: { ...bare.wire, component: 'Bare' } }, { kind: 'Bare' });
    const members = at(openApiV3([bares], bares), 'components', 'schemas', 'Bare', 'properties') as JsonObject;
    expect(['seconds', 'part'].map((name) => 'default' in (members[name] as object))).toEqual([false, false]);
  });

  test('a built-in kind is described', () => {
    expect(at(core, 'components', 'schemas', 'io.k8s.api.core.v1.ConfigMap')).toMatchObject({
      description: 'Text and bytes by key.',
      type: 'object',
      properties: {
        kind: { type: 'string' },
        metadata: {
          allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }],
          default: {},
        },
        data: { type: 'object', additionalProperties: { type: 'string', default: '' } },
        binaryData: { type: 'object', additionalProperties: { type: 'string', format: 'byte' } },
        immutable: { type: 'boolean' },
      },
      'x-kubernetes-group-version-kind': [{ group: '', kind: 'ConfigMap', version: 'v1' }],
    });
    expect(
      at(
        core,
        'components',
        'schemas',
        'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
        'properties',
        'ownerReferences',
      ),
    ).toMatchObject({
      'x-kubernetes-list-map-keys': ['uid'],
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-patch-merge-key': 'uid',
      'x-kubernetes-patch-strategy': 'merge',
    });
  });

  test('a custom resource keeps its complete schema', () => {
    const metadata = [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }];
    const widget = at(custom, 'components', 'schemas', 'com.example.v1.Widget');
    expect(widget).toMatchObject({ properties: { metadata: { allOf: metadata } } });
    expect(at(widget as JsonObject, 'properties', 'spec')).toMatchObject({
      anyOf: [{ required: ['port'] }],
      required: ['size', 'when'],
      'x-kubernetes-validations': [{ rule: 'true', message: 'no' }],
      properties: {
        port: { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true },
        odd: { anyOf: [{ minimum: 1 }], allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }] },
        ports: { 'x-kubernetes-patch-merge-key': 'name' },
        when: { nullable: true },
        tmpl: {
          properties: { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { allOf: metadata } },
          required: ['kind', 'apiVersion'],
        },
      },
    });
    expect(Object.keys(at(widget as JsonObject, 'properties', 'spec', 'properties') as object)).toContain('__proto__');
    expect(at(custom, 'components', 'schemas', 'com.example.v1.WidgetList')).toMatchObject({
      properties: {
        items: { items: { $ref: '#/components/schemas/com.example.v1.Widget' } },
        metadata: { allOf: [{}] },
      },
      required: ['items'],
      'x-kubernetes-group-version-kind': [{ group: 'example.com', kind: 'WidgetList', version: 'v1' }],
    });
  });

  test('an object schema without members has no empty properties', () => {
    const empty = of(properties({ status: { type: 'object', properties: new Map() } }), {
      kind: 'E',
      origin: 'custom',
    });
    const status = at(openApiV3([empty], empty), 'components', 'schemas', 'v1.E', 'properties', 'status');
    expect(status).toEqual({ type: 'object' });
  });

  test('the info of a document tells custom resources from built-in kinds', () => {
    expect([custom['info'], core['info']]).toEqual([
      { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' },
      { title: 'Kubernetes', version: '1.36' },
    ]);
  });

  test('a component has its own description, a field has the description of its purpose', () => {
    const part = b.struct('v1.Part', {}, { description: 'A part.', component: 'x.Part' });
    const whole = b.struct('v1.Whole', { ...typeMeta, spec: b.field(2, part, { description: 'What is wanted.' }) });
    const document = openApiV3([of(whole, { kind: 'Whole' })], { group: '', version: 'v1' });
    expect(at(document, 'components', 'schemas', 'x.Part', 'description')).toBe('A part.');
    expect(at(document, 'components', 'schemas', 'v1.Whole', 'properties', 'spec', 'description')).toBe(
      'What is wanted.',
    );
  });

  test('a recursive schema refers to itself', () => {
    const holder = b.struct('v1.Holder', {
      ...typeMeta,
      metadata: b.field(1, objectMeta),
      schema: b.optional(2, props),
    });
    const document = openApiV3([of(holder, { kind: 'Holder' })], { group: '', version: 'v1' });
    expect(at(document, 'components', 'schemas', 'x.JSONSchemaProps', 'properties', 'properties')).toEqual({
      type: 'object',
      additionalProperties: { allOf: [{ $ref: '#/components/schemas/x.JSONSchemaProps' }], default: {} },
    });
  });

  test('parameters common to all operations of a path are listed at the path', () => {
    const namesAt = (...path: readonly string[]): unknown =>
      (at(core, 'paths', ...path, 'parameters') as readonly JsonObject[] | undefined)?.map(({ name }) => name);
    const [everywhere, namespaced] = ['/api/v1/configmaps', '/api/v1/namespaces/{namespace}/configmaps'];
    expect(namesAt(everywhere)).toEqual(expect.arrayContaining(['labelSelector', 'pretty', 'watch']));
    expect(namesAt(everywhere, 'get')).toBeUndefined();
    expect(namesAt(namespaced)).toEqual(['namespace', 'pretty']);
    expect(namesAt(namespaced, 'post')).toEqual(['dryRun', 'fieldManager', 'fieldValidation']);
    expect(namesAt(namespaced, 'delete')).toEqual((namesAt(namespaced, 'delete') as readonly string[]).toSorted());
  });

  test('operations have an action, a kind and the accepted patch types', () => {
    const item = at(core, 'paths', '/api/v1/namespaces/{namespace}/configmaps/{name}') as Readonly<
      Record<string, JsonObject>
    >;
    const gvk = { group: '', kind: 'ConfigMap', version: 'v1' };
    expect(item['patch']).toMatchObject({
      operationId: 'patchCoreV1NamespacedConfigMap',
      tags: ['core_v1'],
      'x-kubernetes-action': 'patch',
      'x-kubernetes-group-version-kind': gvk,
    });
    expect(Object.keys(at(item['patch'] as JsonObject, 'requestBody', 'content') as object)).toEqual([
      'application/apply-patch+yaml',
      'application/json-patch+json',
      'application/merge-patch+json',
      'application/strategic-merge-patch+json',
    ]);
    expect((at(item['patch'] as JsonObject, 'parameters') as readonly JsonObject[]).map(({ name }) => name)).toEqual([
      'dryRun',
      'fieldManager',
      'fieldValidation',
      'force',
    ]);
    const customPatch = at(custom, 'paths', '/apis/example.com/v1/widgets/{name}', 'patch') as JsonObject;
    expect(at(customPatch, 'requestBody', 'content')).not.toHaveProperty('application/strategic-merge-patch+json');
    expect(at(customPatch, 'responses')).not.toHaveProperty('201');
    const all = at(custom, 'paths', '/apis/example.com/v1/widgets', 'delete') as JsonObject;
    expect((all['parameters'] as readonly JsonObject[]).map(({ name }) => name)).toContain('watch');
    expect(all).not.toHaveProperty('requestBody');
    const made = at(custom, 'paths', '/apis/example.com/v1/widgets', 'post', 'requestBody', 'content');
    expect(Object.keys(made as object)).toEqual(['application/json', 'application/yaml']);
    const actions = Object.entries(core['paths'] as JsonObject).flatMap(([path, methods]) =>
      Object.entries(methods as JsonObject)
        .filter(([method]) => method !== 'parameters')
        .map(([method, operation]) => `${method} ${path} ${at(operation as JsonObject, 'x-kubernetes-action')}`),
    );
    expect(actions.sort()).toEqual([
      'delete /api/v1/namespaces/{namespace}/configmaps deletecollection',
      'delete /api/v1/namespaces/{namespace}/configmaps/{name} delete',
      'get /api/v1/configmaps list',
      'get /api/v1/namespaces/{namespace}/configmaps list',
      'get /api/v1/namespaces/{namespace}/configmaps/{name} get',
      'get /api/v1/watch/configmaps watchlist',
      'get /api/v1/watch/namespaces/{namespace}/configmaps watchlist',
      'get /api/v1/watch/namespaces/{namespace}/configmaps/{name} watch',
      'patch /api/v1/namespaces/{namespace}/configmaps/{name} patch',
      'post /api/v1/namespaces/{namespace}/configmaps post',
      'put /api/v1/namespaces/{namespace}/configmaps/{name} put',
    ]);
  });
});

describe('OpenAPI 2', () => {
  const document = openApiV2([configMaps, widgets]);
  const widget = at(document, 'definitions', 'com.example.v1.Widget') as JsonObject;

  test('has no schema features that its clients do not support', () => {
    const published = at(widget, 'properties', 'spec') as JsonObject;
    expect(published).not.toHaveProperty('anyOf');
    expect(published['required']).toEqual(['size']);
    const { size, port, free, when } = published['properties'] as Readonly<Record<string, JsonObject>>;
    expect(size).toEqual({ type: 'string', enum: ['a', 'b'] });
    expect(port).toEqual({ 'x-kubernetes-int-or-string': true });
    expect(free).toEqual({ 'x-kubernetes-preserve-unknown-fields': true });
    expect(when).toEqual({ format: 'date-time' });
    const open = of(
      { ...properties({}), preserveUnknownFields: true },
      { kind: 'Open', origin: 'custom', group: 'example.com' },
    );
    expect(at(openApiV2([open]), 'definitions', 'com.example.v1.Open')).toEqual({
      type: 'object',
      'x-kubernetes-group-version-kind': [{ group: 'example.com', kind: 'Open', version: 'v1' }],
    });
  });

  test('puts a description beside each reference', () => {
    expect(at(widget, 'properties', 'metadata')).toMatchObject({
      $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
      description: expect.any(String),
    });
  });

  test('is encoded in protocol buffers', () => {
    const path = v2Protobuf.member('paths', '/p', {
      get: { parameters: [{ in: 'query', name: 'q', type: 'string', uniqueItems: true }], 'x-a': { b: 1 } },
    });
    const schema = { type: 'object', properties: { p: { $ref: '#/x' } }, additionalProperties: false };
    const bytes = Buffer.concat([...v2Protobuf.document([path], [v2Protobuf.member('schemas', 'D', schema)])]);
    expect(bytes.subarray(0, 25).toString('latin1')).toBe('\n\x032.0\x12\x12\n\nKubernetes\x12\x041.36');
    const fields = (of: Buffer): readonly (readonly [number, Buffer])[] => {
      const reader = new WireReader(of);
      const out: (readonly [number, Buffer])[] = [];
      while (!reader.done) {
        const { number, type } = reader.tag('test');
        if (type === 2) out.push([number, reader.bytes()]);
        else reader.skip(type);
      }
      return out;
    };
    const inside = (from: Buffer, ...numbers: readonly number[]): Buffer =>
      numbers.reduce(
        (bytesSoFar, number) => fields(bytesSoFar).find(([at]) => at === number)?.[1] ?? Buffer.alloc(0),
        from,
      );
    expect(inside(bytes, 8, 2, 1).toString()).toBe('/p');
    expect(inside(bytes, 8, 2, 2, 2, 8, 1, 2, 3, 4).toString()).toBe('q');
    expect(inside(bytes, 8, 2, 2, 2, 13, 1).toString()).toBe('x-a');
    expect(inside(bytes, 8, 2, 2, 2, 13, 2, 2).toString()).toBe('b: 1\n');
    expect(inside(bytes, 9, 1, 1).toString()).toBe('D');
    expect(inside(bytes, 9, 1, 2, 22, 1).toString()).toBe('object');
    expect(inside(bytes, 9, 1, 2, 25, 1, 2, 1).toString()).toBe('#/x');
    expect(inside(bytes, 9, 1, 2, 21)).toEqual(Buffer.from([0x10, 0]));
    expect(inside(bytes, 12, 1, 1).toString()).toBe('BearerToken');
    expect(inside(bytes, 13, 1, 2, 2, 2).toString()).toBe('authorization');
  });
});

test('the index lists every document with its hash', () => {
  const hash = documentHash('{}');
  expect(hash).toMatch(/^[0-9A-F]{128}$/);
  const hashes = new Map([
    ['apis/example.com/v1', hash],
    ['api/v1', documentHash(Buffer.from('{"a":1}'))],
  ]);
  const { paths } = openApiV3Index(hashes) as { readonly paths: JsonObject };
  expect(Object.keys(paths)).toEqual(['api/v1', 'apis/example.com/v1']);
  expect(paths['apis/example.com/v1']).toEqual({ serverRelativeURL: `/openapi/v3/apis/example.com/v1?hash=${hash}` });
});
