import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasCondition } from '../../../src/api/conditions.js';
import { ConfigMaps } from '../../../src/api/kinds/config-map.js';
import { CustomResourceDefinitions } from '../../../src/api/kinds/custom-resource-definition.js';
import {
  MutatingAdmissionPolicies,
  type MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBindings,
} from '../../../src/api/kinds/mutating-admission-policy.js';
import { Namespaces } from '../../../src/api/kinds/namespace.js';
import {
  type MutatingWebhookConfiguration,
  MutatingWebhookConfigurations,
} from '../../../src/api/kinds/webhook-configuration.js';
import { type ApiObject, groupVersion, resourceType } from '../../../src/api/object.js';
import { type TestServer, testServer } from '../../../src/testing/test-server.js';
import { until } from '../../../src/testing/until.js';
import { type HttpsHook, httpsHook } from '../webhooks/https-hook.js';

/** Mutating policies: what the recorded conversations (`test/conformance/transcripts/policies`) cannot show. */

let server: TestServer;
let hook: HttpsHook;

interface Review {
  readonly request: { readonly uid: string; readonly object: ApiObject };
}

beforeAll(async () => {
  hook = await httpsHook(async ({ body }, response) => {
    const review = JSON.parse(body) as Review;
    const { uid, object } = review.request;
    const order = `${object.metadata.annotations?.['order'] ?? ''}w`;
    const patch = Buffer.from(JSON.stringify([{ op: 'add', path: '/metadata/annotations', value: { order } }]));
    const answer = { uid, allowed: true, patchType: 'JSONPatch', patch: patch.toString('base64') };
    response.end(JSON.stringify({ ...review, response: answer }));
  });
  server = await testServer();
  await server.client.resource(Namespaces).create({ ...meta(Namespaces), metadata: { name: 'ns' } });
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const crds = server.client.resource(CustomResourceDefinitions);
  await crds.create({
    ...meta(CustomResourceDefinitions),
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: open } }],
    },
  } as never);
  await until(crds, { name: 'things.example.com' }, (crd) => hasCondition(crd, 'Established'));
});
afterAll(async () => {
  await server.stop();
  await hook.close();
});

const meta = (type: { group: string; version: string; kind: string }) => ({
  apiVersion: groupVersion(type),
  kind: type.kind,
});

const Things = resourceType<ApiObject & { readonly spec?: object }>({
  group: 'example.com',
  version: 'v1',
  plural: 'things',
  kind: 'Thing',
  namespaced: true,
});

type Spec = Partial<NonNullable<MutatingAdmissionPolicy['spec']>>;

const merging = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });
const patching = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } });

/** Runs some work while a policy about ConfigMaps and things is in force. */
async function withPolicy<T>(spec: Spec, work: () => Promise<T>): Promise<T> {
  const policies = server.client.resource(MutatingAdmissionPolicies);
  const bindings = server.client.resource(MutatingAdmissionPolicyBindings);
  const resourceRules = [
    { apiGroups: ['', 'example.com'], apiVersions: ['v1'], resources: ['configmaps', 'things'], operations: ['*'] },
  ];
  await policies.create({
    ...meta(MutatingAdmissionPolicies),
    metadata: { name: 'p' },
    spec: { matchConstraints: { resourceRules }, reinvocationPolicy: 'Never', ...spec },
  } as MutatingAdmissionPolicy);
  await bindings.create({
    ...meta(MutatingAdmissionPolicyBindings),
    metadata: { name: 'p' },
    spec: { policyName: 'p' },
  });
  try {
    return await work();
  } finally {
    await bindings.delete({ name: 'p' });
    await policies.delete({ name: 'p' });
  }
}

const thing = (name: string, spec: object = {}) =>
  server.client.resource(Things).create({ ...meta(Things), metadata: { name, namespace: 'ns' }, spec });

/** Recorded with kube-apiserver 1.36.3: p is the policy, w the webhook. */
test.each([
  ['Never', 'Never', 'pw'],
  ['IfNeeded', 'Never', 'pwp'],
  ['Never', 'IfNeeded', 'pw'],
  ['IfNeeded', 'IfNeeded', 'pwpw'],
] as const)('a policy (%s) and a webhook (%s) run in the order %s', async (policy, webhook, order) => {
  const configurations = server.client.resource<MutatingWebhookConfiguration>(MutatingWebhookConfigurations);
  await configurations.create({
    ...meta(MutatingWebhookConfigurations),
    metadata: { name: 'hook' },
    webhooks: [
      {
        name: 'hook.example.com',
        clientConfig: { url: `https://127.0.0.1:${hook.port}/`, caBundle: hook.caBundle },
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        reinvocationPolicy: webhook,
      },
    ],
  });
  const appending = `Object{metadata: Object.metadata{annotations: {
    "order": object.?metadata.?annotations[?"order"].orValue("") + "p"
  }}}`;
  try {
    await withPolicy({ mutations: [merging(appending)], reinvocationPolicy: policy }, async () => {
      const name = `order-${policy}-${webhook}`.toLowerCase();
      const made = await server.client
        .resource(ConfigMaps)
        .create({ ...meta(ConfigMaps), metadata: { name, namespace: 'ns' } });
      expect(made.metadata.annotations).toEqual({ order });
    });
  } finally {
    await configurations.delete({ name: 'hook' });
  }
});

test.each([
  ['merged', merging('Object{spec: Object.spec{__proto__: Object.spec.__proto__{a: 1}, constructor: {"b": "c"}}}')],
  [
    'patched',
    patching(
      `[JSONPatch{op: "add", path: "/spec/__proto__", value: {"a": 1}},
        JSONPatch{op: "add", path: "/spec/constructor", value: {"b": "c"}}]`,
    ),
  ],
])('__proto__ and constructor are ordinary names when they are %s', async (how, mutation) => {
  const made = await withPolicy({ mutations: [mutation] }, () => thing(`names-${how}`));
  expect(JSON.stringify(made.spec)).toBe('{"__proto__":{"a":1},"constructor":{"b":"c"}}');
});

test('a patch may set lists and maps of structures, which kube-apiserver does not support', async () => {
  const value = '[Object.spec.parts{id: "a", of: [Object.spec.parts.of{b: {"c": 1}}]}]';
  const mutations = [patching(`[JSONPatch{op: "add", path: "/spec/parts", value: ${value}}]`)];
  const made = await withPolicy({ mutations }, () => thing('structures'));
  expect(made.spec).toEqual({ parts: [{ id: 'a', of: [{ b: { c: 1 } }] }] });
});

const doubled = Array.from({ length: 60 }, (_, at) => at);
const endless = [
  { name: 'l0', expression: '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]' },
  ...doubled.map((at) => ({ name: `l${at + 1}`, expression: `variables.l${at} + variables.l${at}` })),
];
const tooLarge = 'the changed object would be larger than 3145728 bytes';

test.each([
  [
    'copies the object into itself in mutation after mutation',
    { mutations: doubled.map((at) => patching(`[JSONPatch{op: "copy", from: "/spec", path: "/spec/c${at}"}]`)) },
    tooLarge,
  ],
  [
    'sets the object inside itself',
    { mutations: doubled.map((at) => patching(`[JSONPatch{op: "add", path: "/spec/c${at}", value: object.spec}]`)) },
    tooLarge,
  ],
  [
    'merges the object into itself',
    { mutations: doubled.map((at) => merging(`Object{spec: Object.spec{c${at}: object.spec}}`)) },
    tooLarge,
  ],
  [
    'copies the object into itself repeatedly within one patch',
    {
      mutations: [
        patching(`[${doubled.map((at) => `JSONPatch{op: "copy", from: "/spec", path: "/spec/c${at}"}`).join()}]`),
      ],
    },
    'JSON Patch: Unable to complete the copy, the accumulated size increase of copy is ',
  ],
  [
    'merges a list that grows without bound',
    { variables: endless, mutations: [merging('Object{spec: Object.spec{l: variables.l60}}')] },
    'the result of the expression is too large',
  ],
  [
    'sets a list that grows without bound',
    { variables: endless, mutations: [patching('[JSONPatch{op: "add", path: "/spec/l", value: variables.l60}]')] },
    'could not marshal to JSON: the result of the expression is too large',
  ],
])('a request is refused if a policy %s', async (_, spec, why) => {
  await expect(withPolicy(spec, () => thing('large', { text: 'x'.repeat(1_000) }))).rejects.toMatchObject({
    code: 403,
    reason: 'Invalid',
    message: expect.stringContaining(`policy 'p' with binding 'p' denied request: `),
    details: { causes: expect.arrayContaining([{ message: expect.stringContaining(why) }]) },
  });
});
