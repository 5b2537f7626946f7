import { describe, expect, test } from 'vitest';
import { defaultDomains } from '../../../src/api/domains.js';
import type { JsonObject } from '../../../src/api/object.js';
import { runSync } from '../../../src/api/steps.js';
import { withDefaults } from '../../../src/apiserver/bodies.js';
import type { ResourceDefinition } from '../../../src/registry/resource-definition.js';
import { nodes } from '../../../src/resources/nodes/definition.js';
import { pullPolicyOf } from '../../../src/resources/pods/defaults.js';
import { podDefinition } from '../../../src/resources/pods/definition.js';

const pods = podDefinition(defaultDomains);

const filled = (definition: object, object: object): JsonObject =>
  runSync(withDefaults(definition as ResourceDefinition, { metadata: {}, ...object } as never)) as never;
const specOf = (spec: object): JsonObject => filled(pods, { spec })['spec'] as JsonObject;

const plain = {
  dnsPolicy: 'ClusterFirst',
  enableServiceLinks: true,
  restartPolicy: 'Always',
  schedulerName: 'default-scheduler',
  securityContext: {},
  terminationGracePeriodSeconds: 30,
};
const program = { terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' };

describe('a pod', () => {
  test.each<readonly [string, object, object]>([
    ['is empty', {}, plain],
    [
      'sets everything itself',
      { restartPolicy: 'Never', terminationGracePeriodSeconds: 0 },
      {
        ...plain,
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 0,
      },
    ],
    [
      'has containers',
      {
        containers: [{ name: 'a', image: 'i:1', ports: [{ containerPort: 80 }] }],
        ephemeralContainers: [{ name: 'e' }],
      },
      {
        ...plain,
        containers: [
          {
            name: 'a',
            image: 'i:1',
            imagePullPolicy: 'IfNotPresent',
            ports: [{ containerPort: 80, protocol: 'TCP' }],
            ...program,
          },
        ],
        ephemeralContainers: [{ name: 'e', imagePullPolicy: 'IfNotPresent', ...program }],
      },
    ],
    [
      'uses the host network',
      {
        hostNetwork: true,
        initContainers: [{ image: 'i', ports: [{ containerPort: 1 }, { containerPort: 2, hostPort: 3 }] }],
      },
      {
        ...plain,
        hostNetwork: true,
        initContainers: [
          {
            image: 'i',
            imagePullPolicy: 'Always',
            ports: [
              { containerPort: 1, hostPort: 1, protocol: 'TCP' },
              { containerPort: 2, hostPort: 3, protocol: 'TCP' },
            ],
            ...program,
          },
        ],
      },
    ],
    [
      'limits resources',
      {
        containers: [
          { imagePullPolicy: 'Never', resources: { limits: { cpu: '1', memory: '2' }, requests: { cpu: '500m' } } },
        ],
      },
      {
        ...plain,
        containers: [
          {
            imagePullPolicy: 'Never',
            resources: { limits: { cpu: '1', memory: '2' }, requests: { cpu: '500m', memory: '2' } },
            ...program,
          },
        ],
      },
    ],
    [
      'has probes',
      {
        containers: [
          {
            imagePullPolicy: 'Never',
            livenessProbe: { httpGet: { port: 80 } },
            lifecycle: { preStop: { httpGet: { path: '/x', port: 1 } } },
          },
        ],
      },
      {
        ...plain,
        containers: [
          {
            imagePullPolicy: 'Never',
            livenessProbe: {
              httpGet: { path: '/', port: 80, scheme: 'HTTP' },
              timeoutSeconds: 1,
              periodSeconds: 10,
              successThreshold: 1,
              failureThreshold: 3,
            },
            lifecycle: { preStop: { httpGet: { path: '/x', port: 1, scheme: 'HTTP' } } },
            ...program,
          },
        ],
      },
    ],
    [
      'has volumes',
      {
        volumes: [
          { name: 'a' },
          { name: 'b', secret: { secretName: 's' } },
          {
            name: 'c',
            projected: {
              sources: [
                { serviceAccountToken: { path: 't' } },
                { downwardAPI: { items: [{ path: 'n', fieldRef: { fieldPath: 'metadata.name' } }] } },
              ],
            },
          },
          { name: 'd', hostPath: { path: '/' } },
          { name: 'e', image: { reference: 'i:latest' } },
        ],
      },
      {
        ...plain,
        volumes: [
          { name: 'a', emptyDir: {} },
          { name: 'b', secret: { secretName: 's', defaultMode: 420 } },
          {
            name: 'c',
            projected: {
              defaultMode: 420,
              sources: [
                { serviceAccountToken: { path: 't', expirationSeconds: 3600 } },
                { downwardAPI: { items: [{ path: 'n', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } }] } },
              ],
            },
          },
          { name: 'd', hostPath: { path: '/', type: '' } },
          { name: 'e', image: { reference: 'i:latest', pullPolicy: 'Always' } },
        ],
      },
    ],
  ])('that %s', (_, spec, expected) => {
    expect(specOf(spec)).toEqual(expected);
  });
});

test.each([
  ['i', 'Always'],
  ['i:latest', 'Always'],
  ['i:1', 'IfNotPresent'],
  ['localhost:5000/i', 'Always'],
  ['registry.example.com/a/b_c:v1.2', 'IfNotPresent'],
  [`i@sha256:${'0'.repeat(64)}`, 'IfNotPresent'],
  [`i:latest@sha256:${'0'.repeat(64)}`, 'Always'],
  ['Upper', 'IfNotPresent'],
  ['', 'IfNotPresent'],
  ['a'.repeat(3_000_000), 'IfNotPresent'],
  [`${'a-'.repeat(500)}!`, 'IfNotPresent'],
])('the default pull policy of image %.40s is %s', (image, policy) => {
  expect(pullPolicyOf(image)).toBe(policy);
});

test("a node's allocatable resources default to its capacity", () => {
  const capacity = { cpu: '1' };
  expect(filled(nodes, { status: { capacity } })).toMatchObject({ status: { capacity, allocatable: capacity } });
  const allocatable = { cpu: '500m' };
  expect(filled(nodes, { status: { capacity, allocatable } })).toMatchObject({ status: { allocatable } });
});

describe('a field that was renamed or became a list', () => {
  test.each<readonly [string, object, object]>([
    ['the account', { spec: { serviceAccountName: 'a' } }, { spec: { serviceAccountName: 'a', serviceAccount: 'a' } }],
    [
      'the deprecated account name',
      { spec: { serviceAccount: 'a' } },
      { spec: { serviceAccountName: 'a', serviceAccount: 'a' } },
    ],
    [
      'both',
      { spec: { serviceAccount: 'a', serviceAccountName: 'b' } },
      { spec: { serviceAccountName: 'b', serviceAccount: 'b' } },
    ],
    ['an address', { status: { podIP: '1' } }, { status: { podIP: '1', podIPs: [{ ip: '1' }] } }],
    [
      'several addresses',
      { status: { podIPs: [{ ip: '1' }, { ip: '2' }] } },
      { status: { podIP: '1', podIPs: [{ ip: '1' }, { ip: '2' }] } },
    ],
    [
      'a changed address',
      { status: { podIP: '3', podIPs: [{ ip: '1' }, { ip: '2' }] } },
      { status: { podIP: '3', podIPs: [{ ip: '3' }] } },
    ],
  ])('of a pod: %s', (_, pod, expected) => {
    expect(filled(pods, pod)).toMatchObject(expected);
  });

  test('of a node', () => {
    expect(filled(nodes, { spec: { podCIDR: 'a' } })).toMatchObject({ spec: { podCIDR: 'a', podCIDRs: ['a'] } });
    expect(filled(nodes, { spec: { podCIDRs: ['b', 'c'] } })).toMatchObject({
      spec: { podCIDR: 'b', podCIDRs: ['b', 'c'] },
    });
  });
});
