import { expect, test } from 'vitest';
import { runSync } from '../../../src/api/steps.js';
import { Catalogue } from '../../../src/apiserver/catalogue.js';
import { openApiAnswer } from '../../../src/apiserver/openapi/routes.js';
import { openApiV2Json } from '../../../src/apiserver/openapi/v2.js';
import { openApiV2Protobuf } from '../../../src/apiserver/openapi/v2-protobuf.js';
import type { ResourceDefinition } from '../../../src/registry/resource-definition.js';
import { customResourcesOf } from '../../../src/resources/customresources/definition.js';
import { builtinDefinitions } from '../../../src/resources/index.js';
import { widgets } from '../served.js';

const now = Date.UTC(2026, 0, 1) + 999;
const made = 'Thu, 01 Jan 2026 00:00:00 GMT';
const custom = (group: string, members = 0): readonly ResourceDefinition[] => {
  const many = Array.from({ length: members }, (_, at) => [`m${at}`, { type: 'string', description: 'x'.repeat(100) }]);
  const properties = { group: { type: 'string', enum: [group] }, ...Object.fromEntries(many) };
  const crd = widgets({ properties });
  return customResourcesOf(
    {
      ...crd,
      kind: 'CustomResourceDefinition',
      spec: { ...crd.spec, group, scope: 'Cluster' },
      status: { acceptedNames: { plural: 'widgets', kind: 'Widget' } },
    } as Parameters<typeof customResourcesOf>[0],
    { prefixes: ['x-kubernetes-'] },
  );
};
const [first, second] = [custom('a.example.com'), custom('b.example.com')];

function open() {
  const catalogue = new Catalogue(builtinDefinitions());
  catalogue.setCustom([...first, ...second]);
  const ask = async (
    path: string,
    more: { method?: string; hash?: string; accept?: string; ifNoneMatch?: string; ifModifiedSince?: string } = {},
  ) => {
    const { method = 'GET', hash, accept, ifNoneMatch, ifModifiedSince } = more;
    const answer = await openApiAnswer(catalogue.current(), {
      path,
      now,
      method,
      hash,
      accept,
      ifNoneMatch,
      ifModifiedSince,
    });
    if (answer === undefined) return undefined;
    if (answer.type !== 'bytes') throw new Error('bytes are expected');
    return answer;
  };
  const index = async (): Promise<Readonly<Record<string, string>>> =>
    Object.fromEntries(
      Object.entries(JSON.parse((await ask('/openapi/v3'))?.bytes.toString() ?? '').paths).map(([path, of]) => [
        path,
        (of as { serverRelativeURL: string }).serverRelativeURL,
      ]),
    );
  return { catalogue, ask, index };
}
const hashIn = (url = ''): string => url.split('=')[1] ?? '';

test('documents of the index can be cached for a year, and an outdated hash redirects to the current one', async () => {
  const { ask, index } = open();
  const url = (await index())['api/v1'] ?? '';
  expect(url).toMatch(/^\/openapi\/v3\/api\/v1\?hash=[0-9A-F]{128}$/);
  const document = await ask('/openapi/v3/api/v1', { hash: hashIn(url) });
  expect(document?.headers).toEqual({
    ETag: `"${hashIn(url)}"`,
    'Cache-Control': 'public, immutable',
    Expires: 'Fri, 01 Jan 2027 00:00:00 GMT',
    Vary: 'Accept',
    'Last-Modified': made,
  });
  const moved = await ask('/openapi/v3/api/v1', { hash: 'OLD' });
  expect([moved?.code, moved?.headers?.['Location']]).toEqual([301, url]);
  expect((await ask('/openapi/v3/api/v1'))?.headers).toEqual({
    ETag: `"${hashIn(url)}"`,
    Vary: 'Accept',
    'Last-Modified': made,
  });
  expect((await ask('/openapi/v3/api/v1', { hash: '' }))?.code).toBe(200);
  expect((await ask('/openapi/v3/apis/none/v1'))?.code).toBe(404);
  expect(await ask('/openapi/v3/')).toMatchObject({ code: 404, bytes: Buffer.alloc(0) });
});

test.each([
  ['with the same ETag', (etag: string) => etag, 304],
  ['with the same weak ETag', (etag: string) => `W/${etag}`, 304],
  ['with one of several ETags', (etag: string) => `"A", ${etag}`, 304],
  ['with a star', () => '*', 304],
  ['not for another ETag', () => '"A"', 200],
  ['not for an ETag without quotes', (etag: string) => etag.slice(1, -1), 200],
])('If-None-Match saves sending a document again: %s', async (_, said, code) => {
  const { ask } = open();
  for (const path of ['/openapi/v2', '/openapi/v3/api/v1']) {
    const answer = await ask(path);
    const again = await ask(path, { ifNoneMatch: said(answer?.headers?.['ETag'] ?? '') });
    expect([again?.code, (again?.bytes.length ?? 0) > 0]).toEqual([code, code === 200]);
  }
});

test.each([
  ['with the same time', made, {}, 304],
  ['with a later time', 'Thu, 01 Jan 2026 00:00:01 GMT', {}, 304],
  ['not with an earlier time', 'Wed, 31 Dec 2025 23:59:59 GMT', {}, 200],
  ['not with an invalid date', 'yesterday GMT', {}, 200],
  ['not with a date of another format', '2027-01-01T00:00:00Z', {}, 200],
  ['not beside another ETag', made, { ifNoneMatch: '"A"' }, 200],
])('If-Modified-Since saves sending a document again: %s', async (_, ifModifiedSince, more, code) => {
  const { ask } = open();
  for (const path of ['/openapi/v2', '/openapi/v3', '/openapi/v3/api/v1']) {
    const answer = await ask(path, { ifModifiedSince, ...more });
    expect([path, answer?.code, (answer?.bytes.length ?? 0) > 0]).toEqual([path, code, code === 200]);
    // As in Go, a 304 for a document with an ETag does not repeat the date.
    const isDated = code === 200 || path === '/openapi/v3';
    expect(answer?.headers?.['Last-Modified']).toBe(isDated ? made : undefined);
  }
});

test.each([
  ['with a star', { ifNoneMatch: '*' }, 412],
  ['with another ETag', { ifNoneMatch: '"A"' }, 200],
  ['with a date', { ifModifiedSince: made }, 200],
])('a POST for a document is never answered with 304: %s', async (_, more, code) => {
  const { ask } = open();
  for (const path of ['/openapi/v2', '/openapi/v3', '/openapi/v3/api/v1']) {
    const plain = await ask(path);
    const answer = await ask(path, { method: 'POST', ...more });
    expect([answer?.code, answer?.bytes.length]).toEqual([code, code === 200 ? plain?.bytes.length : 0]);
    expect(answer?.headers).toEqual(plain?.headers);
    const isTyped = code === 200 || path !== '/openapi/v3';
    expect(answer?.contentType).toBe(isTyped ? plain?.contentType : undefined);
  }
});

test('HEAD requests are not compressed, so that they report the length', async () => {
  const { ask } = open();
  expect((await ask('/openapi/v2'))?.compressible).toBe(true);
  expect((await ask('/openapi/v2', { method: 'HEAD' }))?.compressible).toBe(false);
});

test('a changed definition leaves other documents unchanged', async () => {
  const { catalogue, ask, index } = open();
  const before = await index();
  const kept = await Promise.all(
    ['api/v1', 'apis/a.example.com/v1'].map(async (path) => (await ask(`/openapi/v3/${path}`))?.bytes),
  );
  catalogue.setCustom([...first, ...custom('c.example.com')]);
  const after = await index();
  expect(Object.keys(after)).toContain('apis/c.example.com/v1');
  expect(Object.keys(after)).not.toContain('apis/b.example.com/v1');
  expect(after['api/v1']).toBe(before['api/v1']);
  const now = await Promise.all(
    ['api/v1', 'apis/a.example.com/v1'].map(async (path) => (await ask(`/openapi/v3/${path}`))?.bytes),
  );
  for (const [at, bytes] of now.entries()) expect(bytes).toBe(kept[at]);
  const changed = custom('a.example.com').map((one) => ({ ...one, plural: 'gadgets' }));
  catalogue.setCustom(changed);
  expect((await index())['apis/a.example.com/v1']).not.toBe(after['apis/a.example.com/v1']);
});

test('the OpenAPI v2 document is the same whether its parts are cached or not', async () => {
  const { catalogue, ask } = open();
  for (const definitions of [first, [...first, ...second], second, []]) {
    catalogue.setCustom(definitions);
    const anew = catalogue.current().definitions.map((one) => ({ ...one }));
    const json = (await ask('/openapi/v2'))?.bytes;
    expect(json?.equals(Buffer.concat(runSync(openApiV2Json(anew))))).toBe(true);
    const protobuf = await ask('/openapi/v2', {
      accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
    });
    expect(protobuf?.contentType).toBe('application/com.github.proto-openapi.spec.v2.v1.0+protobuf');
    expect(protobuf?.bytes.equals(Buffer.concat(runSync(openApiV2Protobuf(anew))))).toBe(true);
  }
});

test.each([
  [undefined, 200],
  ['*/*', 200],
  ['application/json;q=0.5', 200],
  ['text/html, application/json', 200],
  ['text/html', 406],
  ['*', 200],
  ['', 200],
  [';q=1', 406],
])('OpenAPI v2 with Accept %s is answered with %d', async (accept, code) => {
  const answer = await open().ask('/openapi/v2', accept === undefined ? {} : { accept });
  expect([answer?.code, (answer?.bytes.length ?? 0) > 0]).toEqual([code, code === 200]);
});

test.each([
  ['/openapi/v3', undefined],
  ['/openapi/v2', undefined],
  ['/openapi/v2', 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'],
])(
  '%s of many large definitions is built once for concurrent requests, in turns with other work (%s)',
  async (path, accept) => {
    const { catalogue } = open();
    catalogue.setCustom(Array.from({ length: 40 }, (_, at) => custom(`many${at}.example.com`, 400)).flat());
    let turns = 0;
    const other = (): void => {
      turns++;
      immediate = setImmediate(other);
    };
    let immediate = setImmediate(other);
    const asked = {
      path,
      method: 'GET',
      accept,
      now,
      hash: undefined,
      ifNoneMatch: undefined,
      ifModifiedSince: undefined,
    };
    const [one, two] = await Promise.all([1, 2].map(() => openApiAnswer(catalogue.current(), asked)));
    clearImmediate(immediate);
    expect(turns).toBeGreaterThan(1);
    expect(one?.type === 'bytes' && two?.type === 'bytes' && one.bytes === two.bytes).toBe(true);
  },
);
