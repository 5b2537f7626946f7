import { beforeEach, describe, expect, test } from 'vitest';
import type { AdmissionAttributes, WriteAttributes } from '../../../src/admission/admission-step.js';
import { nodeRestriction } from '../../../src/admission/steps/node-restriction.js';
import { defaultDomains } from '../../../src/api/domains.js';
import { CertificateSigningRequests } from '../../../src/api/kinds/certificate-signing-request.js';
import { ConfigMaps } from '../../../src/api/kinds/config-map.js';
import { Leases } from '../../../src/api/kinds/lease.js';
import { Nodes } from '../../../src/api/kinds/node.js';
import { Pods } from '../../../src/api/kinds/pod.js';
import { ServiceAccounts } from '../../../src/api/kinds/service-account.js';
import type { ApiObject, ObjectMeta, ResourceType } from '../../../src/api/object.js';
import type { AccessAttributes } from '../../../src/auth/authorizer.js';
import { encodePem, firstPemBlock } from '../../../src/pki/pem.js';
import { testRequest } from '../../../src/testing/certificates.js';
import { FixedObjects } from '../../auth/fixed-objects.js';

const agent = { username: 'system:node:n1', groups: ['system:nodes'] };
const mirror = { 'kubernetes.io/config.mirror': 'x' };

let objects: FixedObjects;
let asked: AccessAttributes[];
let mayMore: boolean;
beforeEach(() => {
  asked = [];
  mayMore = false;
  objects = new FixedObjects()
    .put(Nodes, { metadata: { name: 'n1', uid: 'node-uid' } })
    .put(Pods, {
      metadata: { namespace: 'ns', name: 'mine', uid: 'pod-uid' },
      spec: {
        nodeName: 'n1',
        volumes: [
          { projected: { sources: [{ serviceAccountToken: { audience: 'vault' } }, { serviceAccountToken: {} }] } },
        ],
      },
    })
    .put(Pods, { metadata: { namespace: 'ns', name: 'theirs', uid: 'pod-uid' }, spec: { nodeName: 'n2' } });
});

interface Content {
  readonly metadata?: ObjectMeta;
  readonly [field: string]: unknown;
}
const whole = (type: ResourceType, content: Content): ApiObject => ({
  apiVersion: 'v1',
  kind: type.kind,
  metadata: {},
  ...content,
});

/** Returns why a write of the agent is refused; undefined if it is not. */
async function refusal(
  type: object,
  content: Content | undefined,
  more: Partial<Omit<AdmissionAttributes, 'previous'>> & { readonly previous?: Content } = {},
): Promise<string | undefined> {
  const resource = type as ResourceType<ApiObject>;
  const { previous, ...rest } = more;
  const attributes: AdmissionAttributes = {
    operation: 'CREATE',
    resource,
    subresource: undefined,
    user: agent,
    dryRun: false,
    warn: () => {},
    ...rest,
    key: {
      namespace: resource.namespaced ? 'ns' : undefined,
      name: content?.metadata?.name ?? previous?.metadata?.name ?? '',
      ...rest.key,
    },
    object: content && whole(resource, content),
    previous: previous && whole(resource, previous),
  };
  const step = nodeRestriction({
    objects,
    domains: defaultDomains,
    authorizer: {
      authorize: async (attributes) => {
        asked.push(attributes);
        return { verdict: mayMore ? 'allow' : 'no-opinion', reason: '' };
      },
    },
  });
  if (!step.handles(attributes)) return undefined;
  try {
    if (attributes.operation === 'DELETE') await step.beforeDeletion(attributes);
    else await step.mutate(attributes as WriteAttributes);
    return undefined;
  } catch (error) {
    return (error as Error).message.replace(/^.*? is forbidden: /, '');
  }
}

test('other users and other resources are not restricted', async () => {
  const user = { username: 'alice', groups: [] };
  expect(await refusal(Nodes, { metadata: { name: 'n2' } }, { user })).toBeUndefined();
  expect(await refusal(ConfigMaps, { metadata: { name: 'n2' } })).toBeUndefined();
  const nobody = { ...agent, username: 'system:node:' };
  for (const resource of [Nodes, ConfigMaps]) {
    expect(await refusal(resource, { metadata: { name: 'n1' } }, { user: nobody })).toBe(
      'could not determine node from user "system:node:"',
    );
  }
});

describe('nodes', () => {
  const update = (next: Content, previous: Content) =>
    refusal(
      Nodes,
      { ...next, metadata: { name: 'n1', ...next.metadata } },
      { operation: 'UPDATE', previous: { ...previous, metadata: { name: 'n1', ...previous.metadata } } },
    );

  test.each<[string, Content, string | undefined]>([
    [
      'itself',
      { metadata: { name: 'n1', labels: { 'kubernetes.io/hostname': 'n1', 'node.kubernetes.io/x': 'y', mine: 'z' } } },
      undefined,
    ],
    ['another node, which is refused', { metadata: { name: 'n2' } }, 'node "n1" is not allowed to modify node "n2"'],
    [
      'itself with a configSource, which is refused',
      { metadata: { name: 'n1' }, spec: { configSource: {} } },
      'node "n1" is not allowed to create pods with a non-nil configSource',
    ],
    [
      'itself with restricted labels, which is refused',
      {
        metadata: {
          name: 'n1',
          labels: { 'node-role.kubernetes.io/x': '', 'a.node-restriction.kubernetes.io/y': '', 'k8s.io/z': '' },
        },
      },
      'node "n1" is not allowed to set the following labels: a.node-restriction.kubernetes.io/y, k8s.io/z, node-role.kubernetes.io/x',
    ],
  ])('creates %s', async (_name, content, expected) => {
    expect(await refusal(Nodes, content)).toBe(expected);
  });

  test.each<[string, Content, Content, string | undefined]>([
    ['labels of its own', { metadata: { labels: { a: 'b' } } }, {}, undefined],
    ['unchanged taints', { spec: { taints: [{ key: 'a' }] } }, { spec: { taints: [{ key: 'a' }] } }, undefined],
    [
      'removed taints, which is refused',
      { spec: {} },
      { spec: { taints: [{ key: 'a' }] } },
      'node "n1" is not allowed to modify taints',
    ],
    [
      'owner references, which is refused',
      { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'x', uid: 'x' }] } },
      {},
      'node "n1" is not allowed to modify ownerReferences',
    ],
    [
      'a restricted label removed, which is refused',
      {},
      { metadata: { labels: { 'node-restriction.kubernetes.io/x': 'y' } } },
      'is not allowed to modify labels: node-restriction.kubernetes.io/x',
    ],
    [
      'a changed configSource, which is refused',
      { spec: { configSource: { a: 1 } } },
      { spec: { configSource: { a: 2 } } },
      'node "n1" is not allowed to update configSource to a new non-nil configSource',
    ],
  ])('updates itself with %s', async (_name, next, previous, expected) => {
    expect(await update(next, previous)).toBe(expected);
  });

  test('may not delete another node', async () => {
    expect(await refusal(Nodes, undefined, { operation: 'DELETE', previous: { metadata: { name: 'n2' } } })).toBe(
      'node "n1" is not allowed to modify node "n2"',
    );
  });

  test('may delete itself, but not the whole collection', async () => {
    const previous = { metadata: { name: 'n1' } };
    expect(await refusal(Nodes, undefined, { operation: 'DELETE', previous })).toBeUndefined();
    expect(await refusal(Nodes, undefined, { operation: 'DELETE', previous, isCollectionDelete: true })).toBe(
      'node "n1" is not allowed to modify node ""',
    );
  });
});

describe('pods', () => {
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'node-uid', controller: true };
  const pod = (spec: object = {}, metadata: ObjectMeta = {}): Content => ({
    metadata: { name: 'p', annotations: mirror, ownerReferences: [owner], ...metadata },
    spec: { nodeName: 'n1', ...spec },
  });
  test.each<[string, Content, string | undefined]>([
    ['a mirror pod of its own', pod(), undefined],
    [
      'any other pod, which is refused',
      pod({}, { annotations: {} }),
      'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
    ],
    [
      'a pod on another node, which is refused',
      pod({ nodeName: 'n2' }),
      'node "n1" can only create pods with spec.nodeName set to itself',
    ],
    [
      'a pod without an owner, which is refused',
      pod({}, { ownerReferences: [] }),
      'node "n1" can only create pods with an owner reference set to itself',
    ],
    [
      'a pod owned by another node, which is refused',
      pod({}, { ownerReferences: [{ ...owner, name: 'n2' }] }),
      'node "n1" can only create pods with an owner reference set to itself',
    ],
    ...[{ kind: 'Pod' }, { apiVersion: 'v2' }, { apiVersion: 'apps/v1' }].map((other): [string, Content, string] => [
      `a pod owned by a non-node of its name, which is refused: ${JSON.stringify(other)}`,
      pod({}, { ownerReferences: [{ ...owner, ...other }] }),
      'node "n1" can only create pods with an owner reference set to itself',
    ]),
    [
      'a pod with two owners, which is refused',
      pod({}, { ownerReferences: [owner, owner] }),
      'node "n1" can only create pods with a single owner reference set to itself',
    ],
    [
      'a pod that it does not control, which is refused',
      pod({}, { ownerReferences: [{ ...owner, controller: false }] }),
      'node "n1" can only create pods with a controller owner reference set to itself',
    ],
    [
      'a pod that blocks its deletion, which is refused',
      pod({}, { ownerReferences: [{ ...owner, blockOwnerDeletion: true }] }),
      'node "n1" must not set blockOwnerDeletion on an owner reference',
    ],
    [
      'a pod owned by a former node of its name, which is refused',
      pod({}, { ownerReferences: [{ ...owner, uid: 'old' }] }),
      'node n1 UID mismatch: expected old got node-uid',
    ],
    [
      'a pod with a service account, which is refused',
      pod({ serviceAccountName: 'sa' }),
      'node "n1" can not create pods that reference serviceaccounts',
    ],
    [
      'a pod with a secret, which is refused',
      pod({ volumes: [{ secret: { secretName: 's' } }] }),
      'node "n1" can not create pods that reference secrets',
    ],
    [
      'a pod with a config map, which is refused',
      pod({ containers: [{ envFrom: [{ configMapRef: { name: 'c' } }] }] }),
      'node "n1" can not create pods that reference configmaps',
    ],
    [
      'a pod with a resource claim, which is refused',
      pod({ resourceClaims: [{ name: 'c' }] }),
      'node "n1" can not create pods that reference resourceclaims',
    ],
    ['a pod with a hostPath volume', pod({ volumes: [{ hostPath: { path: '/' } }] }), undefined],
    [
      'a pod with a downwardAPI projection',
      pod({ volumes: [{ projected: { sources: [{ downwardAPI: {} }] } }] }),
      undefined,
    ],
    ...[
      [{ projected: { sources: [{ downwardAPI: {} }, { clusterTrustBundle: {} }] } }, 'clustertrustbundles'],
      [{ projected: { sources: [{ podCertificate: {} }] } }, 'podcertificates'],
      [{ projected: { sources: [{ serviceAccountToken: {} }] } }, 'serviceaccounts (via projected volumes)'],
      [{ persistentVolumeClaim: { claimName: 'c' } }, 'persistentvolumeclaims'],
      [{ ephemeral: {} }, 'persistentvolumeclaims (via ephemeral volumes)'],
      [{ csi: { driver: 'd' } }, 'csidrivers (via CSI volumes)'],
      [{ glusterfs: { endpoints: 'e' } }, 'endpoints (via glusterFS volumes)'],
    ].map(([volume, what]): [string, Content, string] => [
      `a pod with ${what}, which is refused`,
      pod({ volumes: [volume] }),
      `node "n1" can not create pods that reference ${what}`,
    ]),
  ])('creates %s', async (_name, content, expected) => {
    expect(await refusal(Pods, content)).toBe(expected);
  });

  test('may not be updated', async () => {
    expect(await refusal(Pods, pod(), { operation: 'UPDATE', previous: pod() })).toBe(
      'unexpected operation "UPDATE", node "n1" can only create and delete mirror pods',
    );
  });

  test('may be deleted and evicted on the own node only', async () => {
    const gone = (nodeName: string) => refusal(Pods, undefined, { operation: 'DELETE', previous: pod({ nodeName }) });
    expect(await gone('n1')).toBeUndefined();
    expect(await gone('n2')).toBe('node "n1" can only delete pods with spec.nodeName set to itself');
    const evicted = (name: string) => refusal(Pods, { metadata: { name } }, { subresource: 'eviction' });
    expect(await evicted('mine')).toBeUndefined();
    expect(await evicted('theirs')).toBe('node n1 can only evict pods with spec.nodeName set to itself');
    expect(await evicted('none')).toBe('pod "none" not found');
  });

  test('may have their status updated on the own node only, and nothing else', async () => {
    const tell = (nodeName: string, labels = {}) =>
      refusal(Pods, pod({ nodeName }, { labels }), {
        operation: 'UPDATE',
        subresource: 'status',
        previous: pod({ nodeName }),
      });
    expect(await tell('n1')).toBeUndefined();
    expect(await tell('n2')).toBe('node "n1" can only update pod status for pods with spec.nodeName set to itself');
    expect(await tell('n1', { a: 'b' })).toBe('node "n1" cannot update labels through pod status');
    const claims = (from: object, to: object) =>
      refusal(
        Pods,
        { ...pod(), status: to },
        { operation: 'UPDATE', subresource: 'status', previous: { ...pod(), status: from } },
      );
    const [a, b] = [{ name: 'a', resourceClaimName: 'x' }, { name: 'b' }];
    const refused = 'node "n1" cannot update resource claim statues';
    expect(await claims({}, { resourceClaimStatuses: [], phase: 'Running' })).toBeUndefined();
    expect(await claims({}, { resourceClaimStatuses: [a] })).toBe(refused);
    expect(await claims({ resourceClaimStatuses: [a, b] }, { resourceClaimStatuses: [b, a] })).toBe(refused);
    expect(await claims({ resourceClaimStatuses: [a] }, { resourceClaimStatuses: [a] })).toBeUndefined();
    expect(await claims({ extendedResourceClaimStatus: { resourceClaimName: 'x' } }, {})).toBe(
      'node "n1" cannot update extended resource claim status',
    );
    expect(await refusal(Pods, pod(), { subresource: 'binding' })).toBe(
      `unexpected pod subresource "binding", only 'status' and 'eviction' are allowed`,
    );
  });
});

describe('tokens', () => {
  const bound = { apiVersion: 'v1', kind: 'Pod', name: 'mine', uid: 'pod-uid' };
  const token = (boundObjectRef: object | null, audiences: readonly string[] = []) =>
    refusal(
      ServiceAccounts,
      { metadata: { name: 'sa' }, spec: { boundObjectRef, audiences } },
      { subresource: 'token' },
    );
  test.each<[string, object | null, readonly string[], string | undefined]>([
    ['of a pod on the node', bound, [], undefined],
    ['for the audience of a volume of the pod', bound, ['vault'], undefined],
    ['without a pod', null, [], 'node requested token not bound to a pod'],
    ['bound to a secret', { ...bound, kind: 'Secret' }, [], 'node requested token not bound to a pod'],
    [
      'bound to a pod without a uid',
      { ...bound, uid: '' },
      [],
      'node requested token with a pod binding without a uid',
    ],
    [
      'bound to a former pod of the same name',
      { ...bound, uid: 'old' },
      [],
      'the UID in the bound object reference (old) does not match the UID in record. The object might have been deleted and then recreated',
    ],
    [
      'bound to a pod on another node',
      { ...bound, name: 'theirs' },
      [],
      'node requested token bound to a pod scheduled on a different node',
    ],
    ['bound to a missing pod', { ...bound, name: 'none' }, [], 'pod "none" not found'],
    ['for two audiences', bound, ['vault', ''], 'node may only request 0 or 1 audiences'],
    [
      'for an audience that the pod does not use',
      bound,
      ['evil'],
      'audience "evil" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience',
    ],
  ])('%s', async (_name, ref, audiences, expected) => {
    expect(await token(ref, audiences)).toBe(expected);
  });

  test('for other audiences require a right of their own', async () => {
    mayMore = true;
    expect(await token(bound, ['evil'])).toBeUndefined();
    expect(asked).toMatchObject([
      { verb: 'request-serviceaccounts-token-audience', resource: 'evil', name: 'sa', namespace: 'ns', user: agent },
    ]);
  });

  test('service accounts themselves are left to authorization', async () => {
    expect(await refusal(ServiceAccounts, { metadata: { name: 'sa' } })).toBeUndefined();
  });
});

test('a node may access its own lease only', async () => {
  const lease = (namespace: string, name: string) =>
    refusal(Leases, { metadata: { name } }, { key: { namespace, name } });
  expect(await lease('kube-node-lease', 'n1')).toBeUndefined();
  expect(await lease('kube-node-lease', 'n2')).toBe(
    'can only access node lease with the same name as the requesting node',
  );
  expect(await lease('ns', 'n1')).toBe('can only access leases in the "kube-node-lease" system namespace');
  const all = {
    operation: 'DELETE',
    key: { namespace: 'kube-node-lease', name: 'n1' },
    isCollectionDelete: true,
  } as const;
  expect(await refusal(Leases, undefined, { ...all, previous: { metadata: { name: 'n1' } } })).toBe(
    'can only access node lease with the same name as the requesting node',
  );
});

describe('certificate requests', () => {
  const request = async (signerName: string, commonName: string) => {
    const { base64 } = await testRequest({ commonName, organizations: ['system:nodes'] });
    return refusal(CertificateSigningRequests, {
      metadata: { name: 'r' },
      spec: { signerName, request: base64 },
    });
  };
  test.each([
    ['kubernetes.io/kube-apiserver-client-kubelet', 'system:node:n1', undefined],
    ['kubernetes.io/kubelet-serving', 'system:node:n2', 'can only create a node CSR with CN=system:node:n1'],
    [
      'kubernetes.io/kube-apiserver-client-kubelet',
      'system:node:n10',
      'can only create a node CSR with CN=system:node:n1',
    ],
    ['example.org/mine', 'whoever', undefined],
  ])('of %s for %s', async (signerName, commonName, expected) => {
    expect(await request(signerName, commonName)).toBe(expected);
  });

  test('that cannot be parsed are refused', async () => {
    const spec = { signerName: 'kubernetes.io/kubelet-serving', request: 'eA==' };
    expect(await refusal(CertificateSigningRequests, { metadata: { name: 'r' }, spec })).toMatch(
      /^unable to parse csr: /,
    );
  });

  test('with a bad signature are checked by their subject, and the signature is left to validation', async () => {
    const { pem } = await testRequest({ commonName: 'system:node:n2' });
    const broken = Buffer.from(firstPemBlock(pem)?.bytes ?? '');
    broken[broken.length - 1] = (broken.at(-1) ?? 0) ^ 1;
    const request = Buffer.from(encodePem('CERTIFICATE REQUEST', broken)).toString('base64');
    const spec = { signerName: 'kubernetes.io/kubelet-serving', request };
    expect(await refusal(CertificateSigningRequests, { metadata: { name: 'r' }, spec })).toBe(
      'can only create a node CSR with CN=system:node:n1',
    );
  });
});
