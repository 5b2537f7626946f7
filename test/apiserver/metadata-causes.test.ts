import { afterAll, beforeAll, expect, test } from 'vitest';
import { testSigningRequest } from '../../src/testing/certificates.js';
import { type Served, serve } from './served.js';

/**
 * How often kube-apiserver 1.36.3 names a field of metadata: once or twice for every kind, and again for each check of
 * the kind's own rules.
 */

let it: Served;
beforeAll(async () => {
  it = await serve();
});
afterAll(() => it.stop());

const group = '/apis/admissionregistration.k8s.io/v1';
const prefix = 'metadata.generateName';
const labels = 'metadata.labels';

const policies = `${group}/validatingadmissionpolicies`;
const policy = {
  matchConstraints: {
    resourceRules: [{ apiGroups: ['x.io'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['things'] }],
  },
  validations: [{ expression: 'true' }],
};
const mutations = {
  matchConstraints: policy.matchConstraints,
  reinvocationPolicy: 'Never',
  mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "remove", path: "/a"}]' } }],
};
const binding = { policyName: 'a', validationActions: ['Deny'] };

test.each<[string, string, readonly string[], object?]>([
  ['old and new', '/api/v1/namespaces/default/configmaps', [labels, labels, prefix, labels, labels]],
  ['only against the old', '/apis/coordination.k8s.io/v1/namespaces/default/leases', [labels, labels, labels]],
  ['only the new', `${group}/validatingwebhookconfigurations`, [labels, labels, prefix, labels]],
  ['only the new', `${group}/mutatingwebhookconfigurations`, [labels, labels, prefix, labels]],
  ['only the new', policies, [labels, labels, prefix, labels], policy],
  ['only the new', `${group}/mutatingadmissionpolicies`, [labels, labels, prefix, labels], mutations],
  ['only the new', `${group}/mutatingadmissionpolicybindings`, [labels, labels, prefix, labels], { policyName: 'a' }],
  ['only the new', `${group}/validatingadmissionpolicybindings`, [labels, labels, prefix, labels], binding],
])('rules of a kind validate %s metadata: %s', async (_, at, fields, spec) => {
  const created = await it.ask('POST', at, { body: { metadata: { name: 'a' }, spec } });
  expect(created.code).toBe(201);
  const { code, json } = await it.ask('PATCH', `${at}/a`, {
    body: { metadata: { generateName: 'G_', labels: { 'a b': 'x' } } },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  expect(code).toBe(422);
  const causes: readonly { readonly field: string }[] = json().details.causes;
  expect(causes.map(({ field }) => field).sort()).toEqual([...fields].sort());
});

test('a write to the status of a policy changes no labels, and is refused for another uid', async () => {
  const at = `${policies}/status-of-a-policy`;
  await it.ask('POST', policies, { body: { metadata: { name: 'status-of-a-policy' }, spec: policy } });
  const write = (metadata: object) =>
    it.ask('PATCH', `${at}/status`, {
      body: { metadata },
      headers: { 'content-type': 'application/merge-patch+json' },
    });

  const { code, json } = await write({ uid: 'another', labels: { 'a b': 'x' } });
  expect(code).toBe(422);
  expect(json().details.causes).toEqual([
    { reason: 'FieldValueInvalid', message: 'Invalid value: "another": field is immutable', field: 'metadata.uid' },
  ]);
  const written = await write({ labels: { a: 'x' }, annotations: { a: 'x' }, generateName: 'status-' });
  expect(written.code).toBe(200);
  expect(written.json().metadata).toMatchObject({ generateName: 'status-' });
  expect(Object.keys(written.json().metadata)).not.toContain('labels');
  expect(Object.keys(written.json().metadata)).not.toContain('annotations');
});

test.each<[string, string, object]>([
  ['PUT', '/api/v1/namespaces/default/finalize', {}],
  ['PATCH', '/api/v1/namespaces/default/status', { 'content-type': 'application/merge-patch+json' }],
])('a subresource write validates metadata only against the old object: %s %s', async (method, path, headers) => {
  const body = { metadata: { name: 'default', labels: { 'a b': 'x' } } };
  const { code, json } = await it.ask(method, path, { body, headers: { ...headers } });
  expect(code).toBe(422);
  const causes: readonly { readonly field: string }[] = json().details.causes;
  expect(causes.map(({ field }) => field)).toEqual([labels, labels, labels]);
});

test.each<[string, string, () => Promise<object>]>([
  ['about prefixes', '/apis/resource.k8s.io/v1/deviceclasses', async () => ({ spec: {} })],
  [
    'about names',
    '/apis/certificates.k8s.io/v1/certificatesigningrequests',
    async () => ({ spec: (await testSigningRequest({ name: 'prefix' })).spec }),
  ],
])('generateName must be a valid path segment where the kind has no rule %s', async (_, at, rest) => {
  const object = { metadata: { name: 'prefix' }, ...(await rest()) };
  const metadata = { name: 'prefix', generateName: 'a/%' };
  const patch = { body: { metadata }, headers: { 'content-type': 'application/merge-patch+json' } };
  const refused = [await it.ask('POST', at, { body: { ...object, metadata } })];
  expect((await it.ask('POST', at, { body: object })).code).toBe(201);
  refused.push(await it.ask('PATCH', `${at}/prefix`, patch));
  for (const { code, json } of refused) {
    expect(code).toBe(422);
    expect(json().details.causes).toMatchObject(
      ["may not contain '/'", "may not contain '%'"].map((why) => ({
        field: prefix,
        message: `Invalid value: "a/%": ${why}`,
      })),
    );
  }
});

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const name = 'metadata.finalizers[0]';
test.each<[string, string, object, object, readonly string[]]>([
  [
    'the metadata before and after the immutable field of a ConfigMap',
    '/api/v1/namespaces/default/configmaps',
    { immutable: true },
    { data: { 'a b': '' } },
    [labels, labels, labels, name, 'data', labels, name, 'data[a b]'],
  ],
  [
    'the metadata before and after the type of a Secret',
    '/api/v1/namespaces/default/secrets',
    { type: 'a' },
    { type: 'b', data: { 'a b': '' } },
    [labels, labels, labels, name, 'type', labels, name, 'data[a b]'],
  ],
  [
    'changes of metadata after the rules of a role',
    `${rbac}/clusterroles`,
    {},
    { rules: [{ verbs: [], nonResourceURLs: ['/a'] }] },
    [labels, labels, labels, name, 'rules[0].verbs', labels, name],
  ],
  [
    'changes of metadata between the subjects of a binding and its role',
    `${rbac}/clusterrolebindings`,
    { roleRef: { kind: 'ClusterRole', name: 'a' } },
    { roleRef: { kind: 'ClusterRole', name: '' } },
    [labels, labels, labels, name, 'roleRef.name', labels, name, 'roleRef'],
  ],
  [
    'the name of a namespace before changes of its metadata',
    '/api/v1/namespaces',
    {},
    { metadata: { finalizers: ['a'], generateName: 'G_' } },
    [prefix, name, name],
  ],
])('causes of an update list %s', async (_, at, created, change, fields) => {
  const metadata = { name: 'order-of-causes' };
  expect((await it.ask('POST', at, { body: { metadata, ...created } })).code).toBe(201);
  const { metadata: more, ...rest } = change as { readonly metadata?: object };
  const { code, json } = await it.ask('PATCH', `${at}/order-of-causes`, {
    body: { metadata: more ?? { labels: { 'a b': 'x' }, finalizers: ['a'] }, ...rest },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  expect(code).toBe(422);
  const causes: readonly { readonly field: string }[] = json().details.causes;
  expect(causes.map(({ field }) => field)).toEqual(fields);
});
