import { afterAll, beforeAll, expect, test } from 'vitest';
import { define, type Served, serve, widgets } from './served.js';

let it: Served;
beforeAll(async () => {
  it = await serve({ controllers: 'all' });
  const definition = widgets({}, { subresources: { status: {} } });
  await define(it, definition, '/apis/example.com/v1/widgets');
});
afterAll(() => it.stop());

/**
 * A user with permissions in a namespace only uses paths within that namespace; these paths would be cluster-scoped.
 */
test.each([
  ['GET', ''],
  ['GET', '?watch=1'],
  ['POST', ''],
  ['GET', '/default'],
  ['GET', '/kube-system/status'],
  ['DELETE', '/kube-public'],
])('namespaces are not served within a namespace: %s …/namespaces%s', async (method, rest) => {
  const body = method === 'POST' ? { metadata: { name: 'inner' } } : undefined;
  const { code, text } = await it.ask(method, `/api/v1/namespaces/default/namespaces${rest}`, { body });
  expect([code, JSON.parse(text).message]).toEqual([404, 'the server could not find the requested resource']);
});

test.each(['GET', 'PATCH', 'DELETE'])(
  'a subresource without a name is not served: %s /api/v1/pods//status',
  async (method) => {
    const { code, text } = await it.ask(method, '/api/v1/pods//status');
    expect([code, JSON.parse(text).message]).toEqual([404, 'the server could not find the requested resource']);
  },
);

/**
 * Clients send these requests if the variable for the namespace is empty. Such a read of a collection returns that of
 * all namespaces.
 */
test.each([
  ['GET', 'secrets', 200, 'SecretList'],
  ['GET', 'secrets/a', 400, 'Namespace parameter required.'],
  ['DELETE', 'secrets', 400, 'Namespace parameter required.'],
  ['DELETE', 'secrets/a', 400, 'Namespace parameter required.'],
  ['PUT', 'secrets/a', 400, 'Namespace parameter required.'],
  ['PATCH', 'secrets/a', 400, 'Namespace parameter required.'],
  ['POST', 'secrets', 422, 'Secret "a" is invalid: metadata.namespace: Required value'],
  ['GET', 'serviceaccounts/a/token', 405, 'the server does not allow this method on the requested resource'],
  ['POST', 'serviceaccounts/a/token', 400, 'Namespace parameter required.'],
  ['GET', 'status', 400, 'name must be provided'],
  ['PUT', 'status', 400, 'name must be provided'],
  ['GET', 'clusterroles', 404, 'the server could not find the requested resource'],
  ['DELETE', 'namespaces', 404, 'the server could not find the requested resource'],
])(
  'a namespace without a name is handled as by Kubernetes: %s /api/v1/namespaces//%s',
  async (method, rest, code, told) => {
    const headers = { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' };
    const body = method.startsWith('P') ? { metadata: { name: 'a' } } : undefined;
    const answer = await it.ask(method, `/api/v1/namespaces//${rest}`, { headers, body });
    const { message, kind } = answer.json();
    expect([answer.code, message ?? kind]).toEqual([code, told]);
  },
);

test('a local access review with an empty namespace is refused', async () => {
  const path = '/apis/authorization.k8s.io/v1/namespaces//localsubjectaccessreviews';
  const spec = { user: 'u', resourceAttributes: { verb: 'get', resource: 'pods' } };
  const { code, text } = await it.ask('POST', path, {
    body: { spec },
    headers: { 'content-type': 'application/json' },
  });
  expect([code, JSON.parse(text).message]).toEqual([400, 'namespace is required on this type: ']);
});

test.each(['//api/v1/secrets', '/%2Fapi/v1/namespaces/default/secrets', '/apis//v1/secrets', '/apis//v1', '/apis//'])(
  '%s is answered with 404 page not found',
  async (path) => {
    const { code, text } = await it.ask('GET', path);
    expect([code, text]).toEqual([404, '404 page not found\n']);
  },
);

test.each(['/version/x', '/version/api/v1', '/openid/v1/jwks/x', '/.well-known/openid-configuration/x/y'])(
  'paths below a document are not served: %s',
  async (path) => {
    const { code, text } = await it.ask('POST', path);
    expect([code, JSON.parse(text).reason]).toEqual([404, 'NotFound']);
  },
);

test.each([
  ['GET', '/api/v1/proxy/namespaces/default/configmaps', 404],
  ['DELETE', '/api/v1/proxy/namespaces/default', 404],
  ['POST', '/api/v1/watch/namespaces/default/configmaps', 405],
  ['DELETE', '/api/v1/watch/namespaces/default', 405],
  ['GET', '/apis/authentication.k8s.io/v1/watch/tokenreviews', 404],
  ['GET', '/apis/authentication.k8s.io/v1/tokenreviews?watch=1', 405],
  ['GET', '/apis/authentication.k8s.io/v1/tokenreviews?fieldSelector=metadata.name=a', 405],
  ['GET', '/apis/authentication.k8s.io/v1/tokenreviews/a', 404],
  ['GET', '/api/v1/watch/namespaces/default/status', 404],
  ['GET', '/api/v1/watch/secrets/a', 404],
  ['POST', '/api/v1/watch/secrets/a', 404],
  // If objects cannot be listed in all namespaces, the path without a namespace is not found.
  ['GET', '/apis/authorization.k8s.io/v1/localsubjectaccessreviews', 404],
  ['POST', '/apis/authorization.k8s.io/v1/localsubjectaccessreviews', 404],
  ['POST', '/api/v1/secrets', 405],
  ['GET', '/api/v1/secrets?fieldSelector=metadata.name=a', 200],
])('%s %s: %i', async (method, path, code) => {
  expect((await it.ask(method, path)).code).toBe(code);
});

test.each([
  ['GET', '%2e%2e/secrets', 'invalid key: "/secrets/.."'],
  ['GET', '%2e%2e/secrets?watch=1', 'invalid key: "/secrets/.."'],
  ['DELETE', '%2e/secrets', 'invalid key: "/secrets/."'],
  ['GET', '%2e%2e/secrets/a', 'invalid key: "/secrets/../a"'],
  ['PATCH', '%2e%2e/secrets/a', 'invalid key: "/secrets/../a"'],
  ['POST', '%2e%2e/secrets', `Internal error occurred: invalid resource name "..": [may not be '..']`],
  ['POST', 'a%25b/secrets', `Internal error occurred: invalid resource name "a%b": [may not contain '%']`],
])('a namespace that would lead to another path is refused: %s %s', async (method, rest, message) => {
  const body = method === 'POST' ? { metadata: { name: 'a' } } : {};
  const headers = { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' };
  const path = `/api/v1/namespaces/${rest}`;
  const { code, text } = await it.ask(method, path, method === 'GET' || method === 'DELETE' ? {} : { body, headers });
  expect([code, JSON.parse(text).message]).toEqual([500, message]);
});

test('an unknown OpenAPI document is answered with an empty 404', async () => {
  for (const path of ['/openapi/v3/nope', '/openapi/v3/', '/openapi/v3/api/v1/']) {
    const { code, text, headers } = await it.ask('GET', path);
    expect([code, text, headers['content-type']]).toEqual([404, '', undefined]);
  }
  for (const path of ['/openapi/v2/', '/openapi/v2/nope']) {
    expect((await it.ask('GET', path)).text).toBe('404 page not found\n');
  }
});

test.each(['', '/a', '/a/status', '/a/status/more', '/a/nope', '/a/nope/more'])(
  'custom resources are not served through the proxy path: %s',
  async (rest) => {
    const { code, text } = await it.ask('GET', `/apis/example.com/v1/proxy/widgets${rest}`);
    const message = 'proxy is not supported on resources of kind "widgets.example.com"';
    expect([code, JSON.parse(text).message]).toEqual([405, message]);
  },
);
