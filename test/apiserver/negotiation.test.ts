import { connect } from 'node:http2';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runSync } from '../../src/api/steps.js';
import { errorForm } from '../../src/apiserver/negotiate.js';
import { configMaps } from '../../src/resources/configmaps/definition.js';
import { partialMetadataSchema } from '../../src/resources/partial-metadata-schema.js';
import { decodeEnvelope, readEnvelope } from '../../src/schema/protobuf.js';
import { expectShort } from '../processor-time.js';
import { type Answer, define, type Served, serve, type Tree, widgets } from './served.js';

/** Every format of responses, requested in every way, for built-in kinds and for custom resources. */

const protobuf = 'application/vnd.kubernetes.protobuf';
const as = (kind: string, version = 'v1', type = 'application/json'): string =>
  `${type};as=${kind};v=${version};g=meta.k8s.io`;
const builtIn = '/api/v1/namespaces/default/configmaps';
const custom = '/apis/example.com/v1/widgets';
const listed = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';
const streams = 'application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch';
const either = [
  ['built-in', builtIn],
  ['custom', custom],
] as const;

let it: Served;
const get = (path: string, accept?: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  it.ask('GET', path, { headers: { ...(accept === undefined ? {} : { accept }), ...headers } });
const body = (path: string, name: string): object =>
  path === builtIn
    ? { metadata: { name } }
    : { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, spec: { size: 1 } };

beforeAll(async () => {
  it = await serve({ controllers: 'all' });
  const columns = [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }];
  await define(
    it,
    widgets(
      { 'x-kubernetes-preserve-unknown-fields': true },
      {
        additionalPrinterColumns: columns,
        subresources: { scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
      },
    ),
    custom,
  );
  for (const [, path] of either) for (const name of ['a', 'b']) await it.ask('POST', path, { body: body(path, name) });
});
afterAll(() => it.stop());

describe('one object', () => {
  test.each<[string | undefined, string, string]>([
    [undefined, 'application/json', 'application/json'],
    ['*/*', 'application/json', 'application/json'],
    ['application/json', 'application/json', 'application/json'],
    ['APPLICATION/JSON,application/yaml', 'application/yaml', 'application/yaml'],
    ['*/*,application/yaml;q=0.1', 'application/yaml', 'application/yaml'],
    ['application/*,application/yaml;q=0.1', 'application/yaml', 'application/yaml'],
    ['application/*;q=0.5,application/json;sv=v2', 'application/json', 'application/json'],
    ['a/b/c,application/yaml;stream;as=Table=x;q=x', 'application/yaml', 'application/yaml'],
    [`${as('Table', 'v1', '*/*')},application/yaml`, 'application/yaml', 'application/yaml'],
    ['application/yaml', 'application/yaml', 'application/yaml'],
    [`${protobuf},application/json`, protobuf, 'application/json'],
    [`${protobuf}, */*`, protobuf, 'application/json'],
    ['application/json;q=0.1,application/yaml', 'application/yaml', 'application/yaml'],
    ['text/html,application/json', 'application/json', 'application/json'],
    ['application/json;charset=utf-8', 'application/json', 'application/json'],
    ['application/json;as=;stream=watch;sv=v1', 'application/json', 'application/json'],
    ['application/json;stream=other,application/yaml', 'application/yaml', 'application/yaml'],
    ['application/yaml;stream=watch,application/json', 'application/json', 'application/json'],
    ['application/json;v=v1,application/yaml', 'application/yaml', 'application/yaml'],
    ['application/json;sv=v2,application/yaml', 'application/yaml', 'application/yaml'],
    [`${as('Nonsense')},application/yaml`, 'application/yaml', 'application/yaml'],
    [`${as('Table', 'v2')},application/json`, 'application/json', 'application/json'],
    ['application/json;as=Table;v=v1;g=other.io,application/json', 'application/json', 'application/json'],
    [`${as('Table', 'v1', protobuf)},application/json`, 'application/json', 'application/json'],
  ])('is sent for Accept %s', async (accept, ofBuiltIn, ofCustom) => {
    for (const [origin, path] of either) {
      const answer = await get(`${path}/a`, accept);
      expect([origin, answer.code, answer.headers['content-type']]).toEqual([
        origin,
        200,
        origin === 'custom' ? ofCustom : ofBuiltIn,
      ]);
    }
  });

  test.each([
    ['text/html', builtIn, `406: Not Acceptable\n\nAvailable representations: ${listed}`],
    ['APPLICATION/JSON', builtIn, `406: Not Acceptable\n\nAvailable representations: ${listed}`],
    ['text/html', custom, `only the following media types are accepted: ${listed}`],
    ['application', custom, `only the following media types are accepted: ${listed}`],
    [as('Nonsense'), builtIn, `only the following media types are accepted: ${listed}`],
    [as('Nonsense'), custom, `only the following media types are accepted: ${listed}`],
  ])('Accept %s is refused for %s', async (accept, path, message) => {
    const answer = await get(`${path}/a`, accept);
    expect([answer.code, answer.headers['content-type']]).toEqual([406, 'application/json']);
    expect(answer.json()).toMatchObject({ reason: 'NotAcceptable', message, code: 406 });
    // The response always has line breaks, and the request is rejected before anything is stored.
    expect(answer.text).toContain('\n  "message"');
    const refused = await it.ask('POST', path, { headers: { accept }, body: body(path, 'never') });
    expect(refused.code).toBe(406);
    expect((await get(`${path}/never`)).code).toBe(404);
  });

  test('a refusal has the requested form if that form is available', async () => {
    const refused = await get(`${custom}/a`, protobuf);
    expect([refused.code, refused.headers['content-type']]).toEqual([406, protobuf]);
    for (const accept of ['*', 'application/*']) {
      const { code, text } = await get(`${builtIn}/a`, accept);
      expect([code, text.split('\n').length]).toEqual([406, 2]);
    }
  });

  test.each(either)('is sent as PartialObjectMetadata: %s', async (_, path) => {
    const whole = (await get(`${path}/a`)).json();
    for (const version of ['v1', 'v1beta1']) {
      const partial = await get(`${path}/a`, as('PartialObjectMetadata', version));
      expect(partial.json()).toEqual({
        kind: 'PartialObjectMetadata',
        apiVersion: `meta.k8s.io/${version}`,
        metadata: whole.metadata,
      });
      // In the order of the type, whatever that of the resource's own metadata.
      expect(Object.keys(partial.json().metadata).slice(0, 2)).toEqual([
        'name',
        path === builtIn ? 'namespace' : 'uid',
      ]);
      const proto = await get(`${path}/a`, as('PartialObjectMetadata', version, protobuf));
      expect(proto.headers['content-type']).toBe(protobuf);
      expect(runSync(decodeEnvelope(partialMetadataSchema, proto.bytes))).toMatchObject({
        kind: 'PartialObjectMetadata',
        apiVersion: `meta.k8s.io/${version}`,
        metadata: { name: 'a', uid: whole.metadata.uid },
      });
    }
    const wrong = await get(`${path}/a`, as('PartialObjectMetadataList'));
    expect([wrong.code, wrong.json().message]).toEqual(
      path === builtIn
        ? [406, 'you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)']
        : [500, 'content is not a list'],
    );
  });

  test('the scale of a custom resource cannot be requested as a list', async () => {
    const wrong = await get(`${custom}/a/scale`, as('PartialObjectMetadataList'));
    expect([wrong.code, wrong.json().message]).toEqual([
      406,
      'you requested PartialObjectMetadataList, but the requested object is not a list (*v1.Scale)',
    ]);
  });

  test('finalize of a namespace cannot answer with a table, and changes nothing if one is requested', async () => {
    const path = '/api/v1/namespaces/default';
    const whole = (await get(path)).json();
    const body = { ...whole, spec: { finalizers: ['kubernetes', 'example.com/f'] } };
    const wrong = await it.ask('PUT', `${path}/finalize`, { headers: { accept: as('Table') }, body });
    expect([wrong.code, wrong.json().reason]).toEqual([406, 'NotAcceptable']);
    expect((await get(path)).json()).toEqual(whole);
  });

  test.each(either)('is sent as a table after any operation: %s', async (_, path) => {
    const headers = { accept: as('Table') };
    const created = await it.ask('POST', path, { headers, body: body(path, 't') });
    expect([created.code, created.json().kind, created.json().rows[0].cells[0]]).toEqual([201, 'Table', 't']);
    const merge = { ...headers, 'content-type': 'application/merge-patch+json' };
    const patched = await it.ask('PATCH', `${path}/t`, { headers: merge, body: { metadata: { labels: { l: 'x' } } } });
    expect(patched.json().rows[0].object.metadata.labels).toEqual({ l: 'x' });
    expect(patched.json().metadata).toEqual({
      resourceVersion: patched.json().rows[0].object.metadata.resourceVersion,
    });
    const deleted = await it.ask('DELETE', `${path}/t`, { headers });
    expect([deleted.code, deleted.json().kind]).toEqual([200, 'Status']);
    const absent = await get(`${path}/t`, as('Table'));
    expect([absent.code, absent.json().kind, absent.json().reason]).toEqual([404, 'Status', 'NotFound']);
  });
});

test('events of both groups share one internal type', async () => {
  const answer = await get('/apis/events.k8s.io/v1/events', as('PartialObjectMetadata'));
  expect(answer.json().message).toContain('the requested object is a list (*core.EventList)');
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } };
  const created = await it.ask('POST', '/apis/events.k8s.io/v1/namespaces/default/events', { body });
  expect(created.json().message).toBe(
    'ConfigMap in version "v1" cannot be handled as a Event: converting (v1.ConfigMap) to (core.Event): unknown conversion',
  );
});

describe('a list', () => {
  test.each(either)('is sent as PartialObjectMetadataList: %s', async (_, path) => {
    const whole = (await get(path)).json();
    const list = await get(path, as('PartialObjectMetadataList'));
    expect(list.json()).toEqual({
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: whole.metadata.resourceVersion },
      items: whole.items.map(({ metadata }: Tree) => ({
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata,
      })),
    });
    const { apiVersion, kind, raw } = readEnvelope(
      (await get(path, as('PartialObjectMetadataList', 'v1', protobuf))).bytes,
    );
    expect([apiVersion, kind, raw.includes('\x0a\x01a')]).toEqual([
      'meta.k8s.io/v1',
      'PartialObjectMetadataList',
      true,
    ]);
    const none = await get(`${path}?labelSelector=l%3Dnone`, as('PartialObjectMetadataList'));
    expect(none.json().items).toBe(null);
    const wrong = await get(path, as('PartialObjectMetadata'));
    expect([wrong.code, wrong.json().message]).toEqual([
      406,
      `you requested PartialObjectMetadata, but the requested object is a list (${path === builtIn ? '*core.ConfigMapList' : '*unstructured.UnstructuredList'})`,
    ]);
  });

  test.each<[string, (row: Tree, whole: Tree) => void]>([
    [
      '',
      ({ object }, { metadata }) =>
        expect(object).toEqual({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata }),
    ],
    ['&includeObject=Metadata', ({ object }, { metadata }) => expect(object.metadata).toEqual(metadata)],
    ['&includeObject=None', ({ object }) => expect(object).toBe(null)],
    ['&includeObject=Object', ({ object }, whole) => expect(object).toMatchObject(whole)],
  ])('is sent as a table with includeObject %j', async (query, check) => {
    for (const [, path] of either) {
      const whole = (await get(path)).json();
      const table = (await get(`${path}?limit=500${query}`, as('Table'))).json();
      expect([table.kind, table.apiVersion]).toEqual(['Table', 'meta.k8s.io/v1']);
      expect(table.columnDefinitions[0]).toMatchObject({ name: 'Name', type: 'string', format: 'name', priority: 0 });
      expect(table.rows.length).toBe(whole.items.length);
      for (const [at, row] of table.rows.entries()) check(row, whole.items[at]);
    }
  });

  test('is sent as a table in pages, as YAML and in v1beta1; unknown includeObject values are refused', async () => {
    const page = (await get(`${builtIn}?limit=1`, as('Table'))).json();
    expect([page.rows.length, page.metadata.remainingItemCount > 0, page.metadata.continue !== undefined]).toEqual([
      1,
      true,
      true,
    ]);
    const old = (await get(custom, as('Table', 'v1beta1'))).json();
    expect([old.apiVersion, old.rows[0].object.apiVersion]).toEqual(['meta.k8s.io/v1beta1', 'meta.k8s.io/v1beta1']);
    expect((await get(custom, as('Table', 'v1', 'application/yaml'))).text).toContain('kind: Table');
    const empty = (await get(`${custom}?labelSelector=l%3Dnone`, as('Table'))).json();
    expect(empty.rows).toEqual([]);
    const roles = '/apis/rbac.authorization.k8s.io/v1/roles?labelSelector=l%3Dnone';
    expect((await get(roles, as('Table'))).json().rows).toBe(null);
    for (const [given, shown] of [
      ['x', '"x"'],
      ['<', '"\\u003c"'],
    ] as const) {
      const wrong = await get(`${builtIn}?includeObject=${given}`, as('Table'));
      expect([wrong.code, wrong.json().message]).toEqual([
        400,
        `Unable to convert to Table as requested: includeObject: Invalid value: ${shown}: must be 'Metadata', 'Object', 'None', or empty`,
      ]);
    }
    // Without a table, includeObject is ignored.
    expect((await get(`${builtIn}?includeObject=x`)).code).toBe(200);
  });

  test('with an unacceptable Accept is refused with the media types of streams as well', async () => {
    for (const query of ['', '?watch=1']) {
      expect((await get(`${builtIn}${query}`, 'text/html')).json().message).toBe(
        `406: Not Acceptable\n\nAvailable representations: ${listed}, ${streams}`,
      );
    }
    for (const accept of ['application/yaml', as('Table', 'v1', 'application/yaml')]) {
      const refused = await get(`${builtIn}?watch=1`, `${accept},application/json`);
      expect([refused.code, refused.text]).toEqual([406, expect.stringContaining(streams.split(' ')[1] ?? '')]);
    }
    const wrong = await get(`${builtIn}?watch=1&includeObject=x`, as('Table', 'v1', 'application/yaml'));
    expect([wrong.code, wrong.text]).toEqual([400, expect.stringContaining('includeObject: Invalid value')]);
  });
});

describe('a watch', () => {
  const watch = (path: string, accept: string, lines: number, query = ''): Promise<Answer> =>
    it.ask('GET', `${path}?watch=1&allowWatchBookmarks=true${query}`, { headers: { accept }, lines });

  test.each(either)('sends tables with columns once, one row per event, and bookmarks: %s', async (_, path) => {
    const there = (await get(path)).json().items.map(({ metadata }: Tree) => metadata.name);
    const answer = await watch(path, as('Table'), there.length + 1);
    expect(answer.headers['content-type']).toBe('application/json');
    const events = answer.events();
    const [first] = events;
    const mark = events.at(-1);
    expect(events.map(({ type }) => type)).toEqual([...there.map(() => 'ADDED'), 'BOOKMARK']);
    expect(events.map(({ object }) => object.columnDefinitions === null)).toEqual(events.map((_each, at) => at > 0));
    expect(events.slice(0, -1).map(({ object }) => object.rows[0].cells[0])).toEqual(there);
    expect(mark.object.rows).toHaveLength(1);
    const { cells, object } = mark.object.rows[0];
    expect(cells).toHaveLength(first.object.columnDefinitions.length);
    expect(object.kind).toBe('PartialObjectMetadata');
    expect(object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
    expect(mark.object.metadata.resourceVersion).toBe(object.metadata.resourceVersion);
    const bare = (await watch(path, as('Table'), there.length + 1, '&includeObject=None')).events();
    expect(bare.map((event) => event.object.rows[0].object?.metadata.annotations)).toEqual([
      ...there.map(() => undefined),
      object.metadata.annotations,
    ]);
  });

  test('sends the bookmark of a table with a creation timestamp at the first day', async () => {
    const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles';
    const [mark] = (await watch(roles, as('Table'), 1)).events();
    expect([mark.type, mark.object.rows[0].cells]).toEqual(['BOOKMARK', ['', '0001-01-01T00:00:00Z']]);
  });

  test.each([
    ['None', null],
    ['Object', 'Widget'],
    ['Metadata', 'PartialObjectMetadata'],
  ])('sends tables with includeObject=%s', async (included, kind) => {
    const [first] = (await watch(custom, as('Table'), 1, `&includeObject=${included}`)).events();
    expect(first.object.rows[0].object?.kind ?? null).toBe(kind);
  });

  test.each(either)('sends PartialObjectMetadata: %s', async (_, path) => {
    const [first] = (await watch(path, as('PartialObjectMetadata'), 3)).events();
    expect([first.object.kind, first.object.apiVersion, first.object.spec, first.object.data]).toEqual([
      'PartialObjectMetadata',
      'meta.k8s.io/v1',
      undefined,
      undefined,
    ]);
    const proto = await watch(path, as('PartialObjectMetadata', 'v1', protobuf), 3);
    expect(proto.headers['content-type']).toBe(`${protobuf};stream=watch`);
    expect(proto.bytes.includes('PartialObjectMetadata')).toBe(true);
  });

  test.each(either)('of PartialObjectMetadataList ends before its first event: %s', async (_, path) => {
    for (const type of ['application/json', protobuf]) {
      const { code, bytes } = await get(`${path}?watch=1`, as('PartialObjectMetadataList', 'v1', type));
      expect([code, bytes.length]).toEqual([200, 0]);
    }
  });

  test('sends errors as Status in every form', async () => {
    const forms = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'].map((kind) => as(kind));
    for (const accept of ['application/json', ...forms]) {
      const answer = await it.ask('GET', `${custom}?watch=1&resourceVersion=1`, { headers: { accept } });
      const [{ type, object }] = answer.events() as [Tree];
      expect([answer.code, type, object.kind, object.code]).toEqual([200, 'ERROR', 'Status', 410]);
    }
  });
});

describe('bodies', () => {
  const send = (method: string, path: string, type: string | undefined, sent: unknown): Promise<Answer> =>
    it.ask(method, path, { headers: type === undefined ? {} : { 'content-type': type }, body: sent });

  test.each([
    ['POST', 'application/json; charset=utf-8', 201],
    ['POST', 'APPLICATION/JSON', 201],
    ['POST', undefined, 201],
    ['POST', 'application/yaml', 201],
    ['POST', 'application/cbor', 415],
    ['POST', 'text/plain', 415],
    ['POST', 'application/*', 415],
    ['POST', 'application/merge-patch+json', 415],
    ['PUT', 'text/plain', 415],
    ['DELETE', 'text/plain', 415],
  ])('%s with Content-Type %s is answered with %d', async (method, type, code) => {
    for (const [, path] of either) {
      const where = method === 'POST' ? `${path}?dryRun=All` : `${path}/a?dryRun=All`;
      const answer = await send(method, where, type, method === 'DELETE' ? {} : body(path, 'x'));
      expect(answer.code).toBe(code);
      if (code === 415) {
        expect(answer.json()).toMatchObject({
          reason: 'UnsupportedMediaType',
          message: `the body of the request was in an unknown format - accepted media types include: ${listed}`,
        });
      }
    }
  });

  test.each<[string | undefined, number, number]>([
    ['application/merge-patch+json', 200, 200],
    ['application/merge-patch+json; charset=utf-8', 200, 200],
    ['application/strategic-merge-patch+json', 200, 415],
    ['application/json', 415, 415],
    ['application/cbor', 415, 415],
    [undefined, 415, 415],
  ])(
    'PATCH with Content-Type %s is answered with %d for built-in and %d for custom resources',
    async (type, ofBuiltIn, ofCustom) => {
      for (const [origin, path] of either) {
        const answer = await send('PATCH', `${path}/a`, type, { metadata: {} });
        expect([origin, answer.code]).toEqual([origin, origin === 'custom' ? ofCustom : ofBuiltIn]);
        if (answer.code === 415) {
          expect(answer.json().message).toBe(
            origin === 'built-in'
              ? '415: Unsupported Media Type'
              : 'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
          );
        }
      }
    },
  );

  test('protobuf is read and written for built-in kinds, but refused for custom resources', async () => {
    const { bytes } = await get(`${builtIn}/a`, protobuf);
    expect(runSync(decodeEnvelope(configMaps.schema, bytes))).toMatchObject({
      kind: 'ConfigMap',
      metadata: { name: 'a' },
    });
    const put = await it.ask('PUT', `${builtIn}/a`, {
      headers: { 'content-type': protobuf, accept: protobuf },
      body: bytes,
    });
    expect([put.code, put.headers['content-type']]).toEqual([200, protobuf]);
    const refused = await it.ask('POST', custom, { headers: { 'content-type': protobuf }, body: bytes });
    expect(refused.json()).toMatchObject({
      code: 415,
      message: `the body of the request was in an unknown format - accepted media types include: ${listed}`,
    });
  });
});

describe('the form of errors', () => {
  test.each([
    [undefined, 'application/json', false],
    ['application/yaml', 'application/yaml', false],
    [protobuf, protobuf, false],
    [`${as('Table')},application/json`, 'application/json', false],
    [as('Table'), 'application/json', true],
    ['text/html', 'application/json', true],
  ])('for Accept %s', async (accept, type, pretty) => {
    // The path is rejected before Accept is read.
    const answer = await get('/apis/nobody.example.com/v1/things', accept);
    if (answer.headers['content-type']?.startsWith('text/plain')) return;
    expect([answer.headers['content-type'], answer.text.includes('\n  ')]).toEqual([type, pretty]);
  });

  test.each([
    ['curl/8.0', '', true],
    ['Mozilla/5.0 (X11)', '', true],
    ['Wget/1.2', '', true],
    ['kubectl/v1.33', '', false],
    ['curl/8.0', '?pretty=false', false],
    ['kubectl/v1.33', '?pretty=true', true],
    ['kubectl/v1.33', '?pretty=1', true],
    ['kubectl/v1.33', '?pretty=', false],
    ['curl/8.0', '?pretty=', true],
    ['curl/8.0', '?pretty=yes', false],
  ])('pretty printing for %s with query "%s": %s', async (agent, query, pretty) => {
    const { text } = await get(`${builtIn}/a${query}`, undefined, { 'user-agent': agent });
    expect([text.startsWith('{\n  "kind"'), text.endsWith('\n')]).toEqual([pretty, !pretty]);
    expect(JSON.parse(text).metadata.name).toBe('a');
  });
});

describe('other HTTP features', () => {
  test('answers above 128 KiB are compressed on request, watches never', async () => {
    const large = (size: number) => ({ metadata: { name: 'large' }, data: { k: 'x'.repeat(size) } });
    const post = (size: number, encoding: string): Promise<Answer> =>
      it.ask('POST', `${builtIn}?dryRun=All`, { body: large(size), headers: { 'accept-encoding': encoding } });
    expect((await post(1_000, 'gzip')).headers['content-encoding']).toBeUndefined();
    expect((await post(140_000, 'identity')).headers['content-encoding']).toBeUndefined();
    expect((await post(140_000, 'deflate, gzip;q=0')).headers['content-encoding']).toBeUndefined();
    const compressed = await post(140_000, 'deflate, gzip');
    expect([compressed.headers['content-encoding'], compressed.headers['vary']]).toEqual(['gzip', 'Accept-Encoding']);
    expect(compressed.headers['content-length']).toBeUndefined();
    expect(JSON.parse(gunzipSync(compressed.bytes).toString()).metadata.name).toBe('large');
    await it.ask('POST', builtIn, { body: large(140_000) });
    const watched = await it.ask('GET', `${builtIn}?watch=1&fieldSelector=metadata.name%3Dlarge`, {
      lines: 1,
      headers: { 'accept-encoding': 'gzip' },
    });
    expect(watched.headers['content-encoding']).toBeUndefined();
    await it.ask('DELETE', `${builtIn}/large`);
  });

  test('the OpenAPI v2 document is compressed, those of OpenAPI v3 are not', async () => {
    const of = (path: string): Promise<Answer> => it.ask('GET', path, { headers: { 'accept-encoding': 'gzip' } });
    const [whole, one, index] = [await of('/openapi/v2'), await of('/openapi/v3/api/v1'), await of('/openapi/v3')];
    expect([whole.headers['content-encoding'], whole.headers['vary']]).toEqual(['gzip', 'Accept-Encoding, Accept']);
    expect(JSON.parse(gunzipSync(whole.bytes).toString()).swagger).toBe('2.0');
    expect([one.headers['content-encoding'], one.headers['vary']]).toEqual([undefined, 'Accept']);
    expect([index.headers['content-type'], index.headers['etag']]).toEqual(['text/plain; charset=utf-8', undefined]);
  });

  test('HEAD is refused for built-in kinds, and answered like GET without a body for custom resources', async () => {
    const refused = await it.ask('HEAD', `${builtIn}/a`);
    expect([refused.code, refused.bytes.length]).toEqual([405, 0]);
    const whole = await get(`${custom}/a`);
    const head = await it.ask('HEAD', `${custom}/a`);
    expect([head.code, head.bytes.length, head.headers['content-length']]).toEqual([
      200,
      0,
      whole.headers['content-length'],
    ]);
  });

  test('HEAD over HTTP/2 leaves the connection usable', async () => {
    const session = connect(it.server.url ?? '', it.credentials);
    const ask = (method: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const stream = session.request({ ':method': method, ':path': '/apis' });
        let status = 0;
        stream.on('response', (headers) => {
          status = Number(headers[':status']);
        });
        stream.on('error', reject);
        stream.on('close', () => resolve(status));
        stream.resume();
        stream.end();
      });
    expect([await ask('HEAD'), await ask('GET')]).toEqual([200, 200]);
    session.close();
  });
});

test('a long Accept header is parsed quickly', async () => {
  // A different one each time, because results are cached.
  let count = 0;
  await expectShort(500, () => {
    for (let at = 0; at < 10; at++) {
      const header = `${'*/*,'.repeat(8_000)}${'a/b,'.repeat(8_000)}x/y${count++}`;
      errorForm(header, { get: () => undefined, all: () => [] }, 'x');
    }
  });
});
