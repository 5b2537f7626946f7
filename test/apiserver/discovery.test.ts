import { afterAll, beforeAll, expect, test } from 'vitest';
import { runSync } from '../../src/api/steps.js';
import { discoverySchemas } from '../../src/resources/discovery-schemas.js';
import { decodeProtobuf, readEnvelope } from '../../src/schema/protobuf.js';
import { define, definitionOf, type Served, serve, type Tree, versionOf, widgets } from './served.js';

const v2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
let it: Served;
const get = (path: string, accept?: string, headers: Readonly<Record<string, string>> = {}) =>
  it.ask('GET', path, { headers: { ...(accept === undefined ? {} : { accept }), ...headers } });

beforeAll(async () => {
  it = await serve({ controllers: 'all' });
});
afterAll(() => it.stop());

test.each(['/api', '/apis'])(
  '%s is served as one document with an ETag, and not sent again to a client that has it',
  async (path) => {
    const answer = await get(path, `${v2},application/json`);
    const { etag = '', ...headers } = answer.headers;
    expect([answer.code, headers['content-type'], headers['vary'], headers['cache-control']]).toEqual([
      200,
      v2,
      'Accept',
      'public',
    ]);
    expect(etag).toMatch(/^"[0-9A-F]{128}"$/);
    expect(answer.json()).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' });
    const again = await get(path, v2, { 'if-none-match': etag });
    const { 'content-type': type, 'content-length': length } = again.headers;
    expect([again.code, again.bytes.length, again.headers['etag'], type, length]).toEqual([
      304,
      0,
      etag,
      undefined,
      undefined,
    ]);
    expect((await get(path, v2, { 'if-none-match': '"OTHER"' })).code).toBe(200);
  },
);

test.each([
  [undefined, 'APIGroupList'],
  ['application/json', 'APIGroupList'],
  [`application/json,${v2}`, 'APIGroupDiscoveryList'],
  [`${v2};profile=nopeer,application/json`, 'APIGroupDiscoveryList'],
  ['application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json', 'APIGroupList'],
  [
    `application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,${v2}`,
    'APIGroupDiscoveryList',
  ],
])('Accept %s gets %s', async (accept, kind) => {
  expect((await get('/apis', accept)).json().kind).toBe(kind);
});

test.each([
  ['', v2, { 'user-agent': 'curl/8' }, true],
  ['?pretty=false', v2, { 'user-agent': 'curl/8' }, false],
  ['?pretty=true', v2, {}, true],
  ['', `${v2};pretty=1`, {}, true],
])('the aggregated document is indented for human readers: %s %s %j: %s', async (query, accept, headers, inLines) => {
  const plain = await get('/api', v2);
  const answer = await get(`/api${query}`, accept, headers);
  const text = answer.bytes.toString();
  expect(text).toBe(inLines ? JSON.stringify(plain.json(), null, 2) : plain.bytes.toString());
  expect([answer.headers['content-type'], answer.headers['etag']]).toEqual([v2, plain.headers['etag']]);
  expect((await get('/api', accept, { ...headers, 'if-none-match': plain.headers['etag'] ?? '' })).code).toBe(304);
});

test('the aggregated document is at /apis without a trailing slash, and at /api with or without one', async () => {
  expect((await get('/apis/', v2)).code).toBe(406);
  expect((await get('/apis/', `${v2},application/json`)).json().kind).toBe('APIGroupList');
  expect((await get('/api/', v2)).json().kind).toBe('APIGroupDiscoveryList');
});

test('a form that is no longer served is refused if nothing else is accepted', async () => {
  const answer = await get('/apis', v2.replace('v=v2', 'v=v2beta1'));
  expect([answer.code, answer.json().reason]).toEqual([406, 'NotAcceptable']);
});

test('the lists of groups and resources agree with the aggregated document', async () => {
  const groups = (await get('/apis')).json().groups as readonly Tree[];
  const all = (await get('/apis', v2)).json().items as readonly Tree[];
  expect(all.map(({ metadata }) => metadata.name)).toEqual(groups.map(({ name }) => name));
  for (const group of all) {
    for (const { version, resources } of group.versions as readonly Tree[]) {
      const list = (await get(`/apis/${group.metadata.name}/${version}`)).json();
      const names = (resources as readonly Tree[]).flatMap(({ resource, subresources = [] }) => [
        resource,
        ...subresources.map(({ subresource }: Tree) => `${resource}/${subresource}`),
      ]);
      expect(list.resources.map(({ name }: Tree) => name)).toEqual(names);
    }
  }
});

test('a custom resource changes the ETag of /apis, but not that of /api', async () => {
  const before = (await get('/apis', v2)).headers['etag'];
  const core = (await get('/api', v2)).headers['etag'];
  await define(it, widgets(), '/apis/example.com/v1');
  await expect.poll(async () => (await get('/apis', v2)).headers['etag'] !== before).toBe(true);
  expect((await get('/api', v2)).headers['etag']).toBe(core);
  const items = (await get('/apis', v2)).json().items as readonly Tree[];
  expect(items.at(-1)).toMatchObject({
    metadata: { name: 'example.com' },
    versions: [
      {
        version: 'v1',
        resources: [
          {
            resource: 'widgets',
            responseKind: { group: 'example.com', version: 'v1', kind: 'Widget' },
            scope: 'Cluster',
          },
        ],
        freshness: 'Current',
      },
    ],
  });
});

test('storageVersionHash is in each version of a kind if its stored version is served', async () => {
  const hashes: unknown[] = [];
  for (const [group, isServed] of [
    ['served.example.com', true],
    ['kept.example.com', false],
  ] as const) {
    const versions = [versionOf('v1', {}, { served: isServed }), versionOf('v2')];
    const body = definitionOf({ group, plural: 'gadgets', kind: 'Gadget' }, versions);
    await define(it, body, `/apis/${group}/v2`);
    hashes.push((await get(`/apis/${group}/v2`)).json().resources[0].storageVersionHash);
  }
  expect(hashes).toEqual([expect.stringMatching(/^.{12}$/), undefined]);
});

test.each(['/api', '/api/v1', '/apis', '/apis/certificates.k8s.io', '/apis/certificates.k8s.io/v1'])(
  '%s has the same contents in protobuf as in JSON',
  async (path) => {
    const protobuf = 'application/vnd.kubernetes.protobuf';
    const answer = await get(path, `${protobuf},application/json`);
    expect([answer.code, answer.headers['content-type']]).toEqual([200, protobuf]);
    const { apiVersion, kind, raw } = readEnvelope(answer.bytes);
    const schema = discoverySchemas.get(kind);
    if (schema === undefined) throw new Error(kind);
    const { apiVersion: sameVersion = '', kind: sameKind, ...document } = (await get(path)).json();
    expect([apiVersion, kind]).toEqual([sameVersion, sameKind]);
    // Empty texts are written.
    const told = JSON.parse(JSON.stringify(runSync(decodeProtobuf(schema, raw)), (_, value) => value || undefined));
    expect(told).toEqual(JSON.parse(JSON.stringify(document, (_, value) => value || undefined)));
  },
);
