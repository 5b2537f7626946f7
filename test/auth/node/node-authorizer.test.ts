import { beforeEach, describe, expect, test } from 'vitest';
import { defaultDomains } from '../../../src/api/domains.js';
import { type PodSpec, Pods } from '../../../src/api/kinds/pod.js';
import type { AccessAttributes } from '../../../src/auth/authorizer.js';
import { nodeAuthorizer } from '../../../src/auth/node/node-authorizer.js';
import { FixedObjects } from '../fixed-objects.js';

const agent = { username: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] };

let objects: FixedObjects;
beforeEach(() => {
  const spec = (nodeName: string) => ({
    nodeName,
    serviceAccountName: 'sa',
    volumes: [
      { name: 'a', secret: { secretName: 'volume' } },
      { name: 'b', projected: { sources: [{ configMap: { name: 'projected' } }, { secret: { name: 'projected' } }] } },
      { name: 'c', persistentVolumeClaim: { claimName: 'claim' } },
    ],
    imagePullSecrets: [{ name: 'pull' }],
    containers: [
      {
        env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 'env', key: 'k' } } }],
        envFrom: [{ configMapRef: { name: 'from' } }],
      },
    ],
  });
  objects = new FixedObjects()
    .put(Pods, { metadata: { namespace: 'ns', name: 'p' }, spec: spec('n1') })
    .put(Pods, { metadata: { namespace: 'other', name: 'q' }, spec: { ...spec('n2'), serviceAccountName: 'theirs' } })
    .put(Pods, {
      metadata: { namespace: 'ns', name: 'mirror', annotations: { 'kubernetes.io/config.mirror': '' } },
      spec: { nodeName: 'n1', imagePullSecrets: [{ name: 'stolen' }] },
    });
});

/** Asks about `verb resource[/subresource] [namespace/][name]`, with the group before the resource and a dot. */
const ask = (text: string, more: Partial<AccessAttributes> = {}) => {
  const [verb = '', what = '', where = ''] = text.split(' ');
  const [resources = '', subresource] = what.split('/');
  const [resource = '', ...group] = resources.split('.');
  const [namespace, name] = where.includes('/') ? where.split('/') : [undefined, where];
  return nodeAuthorizer(objects, defaultDomains).authorize({
    user: agent,
    verb,
    group: group.join('.'),
    version: 'v1',
    resource,
    subresource,
    namespace,
    name: name || undefined,
    ...more,
  });
};
const unrelated = "no relationship found between node 'n1' and this object";

describe('a node may', () => {
  test.each([
    'get secrets ns/volume',
    'list secrets ns/projected',
    'watch secrets ns/env',
    'get secrets ns/pull',
    'get configmaps ns/projected',
    'get configmaps ns/from',
    'get serviceaccounts ns/sa',
    'create serviceaccounts/token ns/sa',
    'get persistentvolumeclaims ns/claim',
    'patch persistentvolumeclaims/status ns/claim',
    'get pods ns/p',
    'list pods ns/p',
    'create pods ns/',
    'delete pods ns/x',
    'patch pods/status ns/x',
    'create pods/eviction ns/x',
    'get nodes n1',
    'create nodes',
    'patch nodes n1',
    'update nodes/status n1',
    'get leases.coordination.k8s.io kube-node-lease/n1',
    'create leases.coordination.k8s.io kube-node-lease/',
    'create certificatesigningrequests.certificates.k8s.io',
    'get certificatesigningrequests.certificates.k8s.io x',
    'create tokenreviews.authentication.k8s.io',
    'create subjectaccessreviews.authorization.k8s.io',
    'list services',
    'create events ns/',
    'watch clustertrustbundles.certificates.k8s.io',
  ])('%s', async (text) => {
    expect(await ask(text)).toEqual({ verdict: 'allow', reason: '' });
  });

  test('list and watch its own pods by field selector', async () => {
    expect((await ask('list pods', { fieldSelector: 'spec.nodeName=n1' })).verdict).toBe('allow');
    expect((await ask('watch pods', { fieldSelector: 'a=b,spec.nodeName==n1' })).verdict).toBe('allow');
    expect((await ask('list pods', { fieldSelector: 'spec.nodeName=n0,spec.nodeName=n1' })).verdict).toBe('allow');
  });
});

describe('a node may not', () => {
  test.each([
    ['get serviceaccounts sa', 'can only read namespaced object of this type'],
    ['get secrets other/volume', unrelated],
    ['get secrets ns/stolen', unrelated],
    ['get secrets ns/unknown', unrelated],
    ['list secrets ns/', 'No Object name found'],
    ['list secrets', 'can only read namespaced object of this type'],
    ['update secrets ns/volume', 'can only read resources of this type'],
    ['get secrets/x ns/volume', 'cannot read subresource'],
    ['get configmaps ns/unknown', unrelated],
    ['create serviceaccounts/token other/theirs', unrelated],
    ['create serviceaccounts/token ns/', 'can only create tokens for individual service accounts'],
    ['delete serviceaccounts ns/sa', 'can only create tokens for individual service accounts'],
    ['create serviceaccounts ns/sa', 'can only create token subresource of serviceaccount'],
    ['get serviceaccounts other/theirs', unrelated],
    ['list persistentvolumeclaims ns/claim', 'can only get individual resources of this type'],
    ['get persistentvolumeclaims/status ns/claim', 'can only get/update/patch this type'],
    ['get persistentvolumes v', unrelated],
    ['get pods other/q', unrelated],
    ['get pods/log ns/p', ''],
    ['list pods', 'can only list/watch pods with spec.nodeName field selector'],
    ['list pods other/q', unrelated],
    ['patch pods ns/p', ''],
    ['list nodes', "node 'n1' cannot read all nodes, only its own Node object"],
    ['get nodes n2', "node 'n1' cannot read 'n2', only its own Node object"],
    ['delete nodes n1', ''],
    ['get nodes/status n1', ''],
    ['list leases.coordination.k8s.io kube-node-lease/', 'can only get, create, update, patch, or delete a node lease'],
    ['get leases.coordination.k8s.io ns/n1', 'can only access leases in the "kube-node-lease" system namespace'],
    [
      'get leases.coordination.k8s.io kube-node-lease/n2',
      'can only access node lease with the same name as the requesting node',
    ],
    ['update certificatesigningrequests/approval.certificates.k8s.io x', ''],
    ['list roles.rbac.authorization.k8s.io', ''],
  ])('%s', async (text, reason) => {
    expect(await ask(text)).toEqual({ verdict: 'no-opinion', reason });
  });

  test.each(['spec.nodeName=n2', 'spec.nodeName!=n1', 'metadata.name=x', 'spec.nodeName'])(
    'list pods with the field selector %s',
    async (fieldSelector) => {
      expect((await ask('list pods', { fieldSelector })).verdict).toBe('no-opinion');
    },
  );

  test('get paths that are not resources', async () => {
    expect(await ask('get x', { path: '/metrics' })).toEqual({ verdict: 'no-opinion', reason: '' });
  });
});

describe('a user is not a node', () => {
  test.each([
    ['outside the nodes group', { ...agent, groups: [] }, ''],
    ['with another username in the nodes group', { ...agent, username: 'alice' }, ''],
    ['without a node name', { ...agent, username: 'system:node:' }, 'unknown node for user "system:node:"'],
  ])('%s', async (_name, user, reason) => {
    expect(await ask('get nodes n1', { user })).toEqual({ verdict: 'no-opinion', reason });
  });

  test('rules of a node cannot be listed', async () => {
    const authorizer = nodeAuthorizer(objects, defaultDomains);
    expect(await authorizer.rulesFor?.(agent, 'ns')).toMatchObject({
      incomplete: true,
      errors: ['node authorizer does not support user rule resolution'],
    });
    expect(await authorizer.rulesFor?.({ username: 'alice', groups: [] }, 'ns')).toMatchObject({ incomplete: false });
  });
});

test('access to a secret follows the pods of the node', async () => {
  const authorizer = nodeAuthorizer(objects, defaultDomains);
  const secret: AccessAttributes = {
    user: agent,
    verb: 'get',
    group: '',
    version: 'v1',
    resource: 'secrets',
    namespace: 'ns',
    name: 'pull',
  };
  const verdict = async () => (await authorizer.authorize(secret)).verdict;
  const second = (nodeName: string) =>
    objects.put(Pods, {
      metadata: { namespace: 'ns', name: 'second' },
      spec: { nodeName, imagePullSecrets: [{ name: 'pull' }] },
    });
  expect(await verdict()).toBe('allow');
  second('n1');
  objects.remove(Pods, { namespace: 'ns', name: 'p' });
  expect(await verdict()).toBe('allow');
  second('n2');
  expect(await verdict()).toBe('no-opinion');
});

test.each([
  [
    'lists of the wrong type',
    { nodeName: 'n1', volumes: 'x', containers: { a: 1 }, imagePullSecrets: [null, 'x', { name: 1 }] },
  ],
  ['inherited members', { nodeName: 'n1', volumes: [{ ['__proto__']: { secretName: 'x' } }] }],
])('pods with an invalid spec (%s) grant nothing', async (_name, spec) => {
  objects.put(Pods, { metadata: { namespace: 'ns', name: 'odd' }, spec: spec as PodSpec });
  expect((await ask('get secrets ns/x')).verdict).toBe('no-opinion');
});
