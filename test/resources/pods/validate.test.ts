import { describe, expect, test } from 'vitest';
import { defaultDomains } from '../../../src/api/domains.js';
import type { JsonObject } from '../../../src/api/object.js';
import { podDefinition } from '../../../src/resources/pods/definition.js';
import { write } from '../write.js';

const pods = podDefinition(defaultDomains);

/** Returns the violations with the texts and in the order of kube-apiserver. */
const violationsOf = (spec: JsonObject | undefined): readonly string[] =>
  write(pods, spec === undefined ? {} : { spec }).violations;

const fine = { name: 'c', image: 'i' };
const label = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`;

describe('a container', () => {
  const port = 'spec.containers[0].ports';
  const number = 'must be between 1 and 65535, inclusive';
  test.each<[string, JsonObject, readonly string[]]>([
    ['the required fields only', {}, []],
    ['no name, no image', { name: '', image: '' }, ['name: Required value', 'image: Required value']],
    ['an invalid name', { name: 'A' }, [`name: Invalid value: "A": ${label}`]],
    [
      'a space in its image',
      { image: ' i' },
      ['image: Invalid value: " i": must not have leading or trailing whitespace'],
    ],
    [
      'unknown policies',
      { imagePullPolicy: 'x', terminationMessagePolicy: 'y' },
      [
        'terminationMessagePolicy: Unsupported value: "y": supported values: "File", "FallbackToLogsOnError"',
        'imagePullPolicy: Unsupported value: "x": supported values: "Always", "IfNotPresent", "Never"',
      ],
    ],
    [
      'invalid ports',
      { ports: [{}, { containerPort: 70_000, hostPort: -1, protocol: 'tcp', name: 'A--' }] },
      [
        'ports[0].containerPort: Required value',
        'ports[1].name: Invalid value: "A--": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
        'ports[1].name: Invalid value: "A--": must contain at least one letter (a-z)',
        'ports[1].name: Invalid value: "A--": must not contain consecutive hyphens',
        'ports[1].name: Invalid value: "A--": must not begin or end with a hyphen',
        `ports[1].containerPort: Invalid value: 70000: ${number}`,
        `ports[1].hostPort: Invalid value: -1: ${number}`,
        'ports[1].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"',
      ],
    ],
    [
      'duplicate port names and host ports',
      {
        ports: [
          { containerPort: 1, name: 'a', hostPort: 5 },
          { containerPort: 2, name: 'a', hostPort: 5 },
          { containerPort: 2, hostPort: 5, protocol: 'UDP' },
        ],
      },
      ['ports[1].name: Duplicate value: "a"', 'ports[1].hostPort: Duplicate value: "TCP//5"'],
    ],
    [
      'invalid variables',
      { env: [{}, { name: 'a=b' }, { name: 'A', valueFrom: {} }] },
      [
        'env[0].name: Required value',
        'env[1].name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than \'=\'',
        'env[2].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
      ],
    ],
    [
      'values from two sources',
      {
        env: [
          { name: 'A', valueFrom: { secretKeyRef: { name: 's', key: '' }, configMapKeyRef: { name: 's', key: 'k' } } },
          { name: 'B', value: 'v', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
        ],
      },
      [
        'env[0].valueFrom.secretKeyRef.key: Required value',
        'env[0].valueFrom: Invalid value: "": may not have more than one field specified at a time',
        'env[1].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
      ],
    ],
    [
      'mounts of missing volumes',
      { volumeMounts: [{ name: 'v', mountPath: '/a' }, {}] },
      [
        'volumeMounts[0].name: Not found: "v"',
        'volumeMounts[1].name: Required value',
        'volumeMounts[1].name: Not found: ""',
        'volumeMounts[1].mountPath: Required value',
      ],
    ],
    [
      'requests above limits and negative ones',
      { resources: { requests: { cpu: '1500m' }, limits: { cpu: '1', memory: '-5Mi' } } },
      [
        'resources.limits[memory]: Invalid value: "-5Mi": must be greater than or equal to 0',
        'resources.requests: Invalid value: "1500m": must be less than or equal to cpu limit of 1',
        'resources.requests[memory]: Invalid value: "-5Mi": must be greater than or equal to 0',
      ],
    ],
  ])('with %s', (_, more, wanted) => {
    const found = violationsOf({ containers: [{ ...fine, ...more }] });
    expect([...found].sort()).toEqual(wanted.map((text) => `spec.containers[0].${text}`).sort());
  });

  test('is required, and has a unique name', () => {
    expect([violationsOf(undefined), violationsOf({}), violationsOf({ containers: [] })]).toEqual(
      Array(3).fill(['spec.containers: Required value']),
    );
    const init = { name: 'i', image: 'i' };
    const nameless = { ...init, name: '' };
    expect(violationsOf({ containers: [fine], initContainers: [nameless, nameless] })).toEqual([
      'spec.initContainers[0].name: Required value',
      'spec.initContainers[1].name: Required value',
    ]);
    const ephemeralContainers = [{ name: 'i', image: 'i' }];
    expect(violationsOf({ containers: [fine, fine], initContainers: [fine, init], ephemeralContainers })).toEqual([
      'spec.containers[1].name: Duplicate value: "c"',
      'spec.initContainers[0].name: Duplicate value: "c"',
      'spec.ephemeralContainers[0].name: Duplicate value: "i"',
      'spec.ephemeralContainers: Forbidden: cannot be set on create',
    ]);
  });

  test('on the host network must use equal host ports', () => {
    const ports = [{ containerPort: 80, hostPort: 81 }, { containerPort: 5 }];
    expect(violationsOf({ hostNetwork: true, containers: [{ ...fine, ports }] })).toEqual([
      `${port}[0].hostPort: Invalid value: 81: must match \`containerPort\` when \`hostNetwork\` is true`,
    ]);
  });
});

test('volumes need a unique name and one source with its name, and only these can be mounted', () => {
  const volumes = [
    { name: 'a' },
    { name: 'a', emptyDir: {} },
    { name: 'b', emptyDir: {}, secret: { secretName: 's' } },
    { secret: {} },
    { name: 'd', configMap: {} },
  ];
  const volumeMounts = ['a', 'b'].map((name) => ({ name, mountPath: '/x' }));
  expect(violationsOf({ volumes, containers: [{ ...fine, volumeMounts }] })).toEqual([
    'spec.volumes[1].name: Duplicate value: "a"',
    'spec.volumes[2].secret: Forbidden: may not specify more than 1 volume type',
    'spec.volumes[3].secret.secretName: Required value',
    'spec.volumes[3].name: Required value',
    'spec.volumes[4].configMap.name: Required value',
    'spec.containers[0].volumeMounts[1].name: Not found: "b"',
    'spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/x": must be unique',
  ]);
});

test('pod-level fields are validated', () => {
  const found = violationsOf({
    containers: [fine],
    restartPolicy: 'x',
    dnsPolicy: 'y',
    nodeName: 'N_',
    activeDeadlineSeconds: 0,
    hostname: 'a.b',
    nodeSelector: { 'a b': 'c' },
  });
  expect(found.map((text) => text.split(': ', 3).join(': '))).toEqual([
    'spec.restartPolicy: Unsupported value: "x"',
    'spec.dnsPolicy: Unsupported value: "y"',
    'spec.nodeSelector: Invalid value: "a b"',
    'spec.nodeName: Invalid value: "N_"',
    'spec.activeDeadlineSeconds: Invalid value: 0',
    'spec.hostname: Invalid value: "a.b"',
  ]);
});

test('on update, a missing image is reported twice', () => {
  const spec = { containers: [fine], initContainers: [{ ...fine, name: 'i' }] };
  const without = (container: JsonObject): JsonObject => ({ ...container, image: '' });
  const next = { containers: [without(fine)], initContainers: [{ ...fine, name: 'i', image: 'x ' }] };
  const found = write(pods, { spec: next }, { spec }).violations.filter((line) => line.includes('image:'));
  const missing = 'spec.containers[0].image: Required value';
  const spaced = 'spec.initContainers[0].image: Invalid value: "x "';
  expect(found.map((line) => line.replace(/(: must| in| \().*/, ''))).toEqual([missing, spaced, missing, spaced]);
});

test('containers cannot be added or removed on update', () => {
  const spec = { containers: [fine] };
  const later = (more: JsonObject) => write(pods, { spec: { ...spec, ...more } }, { spec }).violations;
  const text = 'Forbidden: pod updates may not add or remove containers';
  expect(later({ containers: [fine, { ...fine, name: 'd' }] })).toEqual([`spec.containers: ${text}`]);
  expect(later({ initContainers: [{ ...fine, name: 'd' }] })).toEqual([`spec.initContainers: ${text}`]);
  expect(later({ containers: [] })).toEqual(['spec.containers: Required value', `spec.containers: ${text}`]);
});

test('violations of a pod are limited to what one answer holds', () => {
  const containers = Array.from({ length: 9_000 }, () => ({ name: 'A', image: '' }));
  expect(violationsOf({ containers }).length).toBeLessThan(1_100);
});
