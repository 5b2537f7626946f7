import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/api/object.js';
import { podWarnings } from '../../../src/resources/pods/warnings.js';

const warningsOf = (spec: JsonObject): readonly string[] =>
  podWarnings({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec });
const withOne = (more: JsonObject): readonly string[] =>
  warningsOf({ containers: [{ name: 'c', image: 'i', ...more }] }).map((text) =>
    text.replaceAll('spec.containers[0].', ''),
  );

const long = 'x'.repeat(64);
const noLabel =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
test.each<[string, readonly string[]]>([
  ['p-1', []],
  ['a.b', ['must not contain dots']],
  [long, ['must be no more than 63 characters']],
  [`${long}.b`, ['must be no more than 63 characters must not contain dots']],
  ['a_b', [noLabel]],
])('a pod named %s', (name, wrong) => {
  const told = "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior";
  expect(podWarnings({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: {} })).toEqual(
    wrong.map((text) => `${told}; a DNS label is recommended: [${text}]`),
  );
});

const hidden = 'hides previous definition of "A", which may be dropped when using apply';
test.each<[string, JsonObject[], readonly string[]]>([
  ['defined once', [{ name: 'A' }, { name: 'B' }], []],
  [
    'defined twice',
    [
      { name: 'A', value: '1' },
      { name: 'A', value: '2' },
    ],
    [`env[1]: ${hidden}`],
  ],
  [
    'redefined with a reference to itself',
    [
      { name: 'A', value: '1' },
      { name: 'A', value: '$(A)2' },
    ],
    [],
  ],
  [
    'redefined as its former value',
    [
      { name: 'A', value: '1' },
      { name: 'A', value: '$(A)' },
    ],
    [`env[1]: ${hidden}`],
  ],
  [
    'redefined from a source',
    [
      { name: 'A', value: '1' },
      { name: 'A', value: '$(A)2', valueFrom: {} },
    ],
    [`env[1]: ${hidden}`],
  ],
])('a variable %s', (_, env, wanted) => {
  expect(withOne({ env })).toEqual(wanted);
});

const tcp = (more: JsonObject): JsonObject => ({ containerPort: 80, protocol: 'TCP', ...more });
test.each<[string, JsonObject[], readonly string[]]>([
  ['of two protocols', [tcp({}), tcp({ protocol: 'UDP' })], []],
  ['the same', [tcp({}), tcp({})], ['ports[1]: duplicate port definition with ports[0]']],
  [
    'with and without a host port',
    [tcp({ hostPort: 1 }), tcp({})],
    ['ports[1]: overlapping port definition with ports[0]'],
  ],
  [
    'at one host address, and at all',
    [tcp({ hostPort: 1, hostIP: '1.2.3.4' }), tcp({ hostPort: 1 })],
    ['ports[1]: dangerously ambiguous port definition with ports[0]'],
  ],
  [
    'with host ports, and without',
    [tcp({ hostPort: 1 }), tcp({ hostPort: 2 }), tcp({}), tcp({ hostPort: 2 })],
    [
      'ports[2]: overlapping port definition with ports[0]',
      'ports[2]: overlapping port definition with ports[1]',
      'ports[3]: duplicate port definition with ports[1]',
      'ports[3]: overlapping port definition with ports[2]',
    ],
  ],
  [
    'at one host address, at all, and again',
    [tcp({ hostPort: 1, hostIP: '1.2.3.4' }), tcp({ hostPort: 1 }), tcp({ hostPort: 1, hostIP: '1.2.3.4' })],
    [
      'ports[1]: dangerously ambiguous port definition with ports[0]',
      'ports[2]: duplicate port definition with ports[0]',
      'ports[2]: dangerously ambiguous port definition with ports[1]',
    ],
  ],
  ['at two host addresses', [tcp({ hostPort: 1, hostIP: '1.2.3.4' }), tcp({ hostPort: 1, hostIP: '1.2.3.5' })], []],
  [
    'with a host address only',
    [tcp({ name: 'n', hostIP: '1.2.3.4' })],
    ['ports[0]: hostIP set without hostPort: {Name:n HostPort:0 ContainerPort:80 Protocol:TCP HostIP:1.2.3.4}'],
  ],
  [
    'with the same name',
    [tcp({ name: 'n' }), tcp({ containerPort: 81, name: 'n' })],
    [
      'ports[1]: duplicate port name "n" with ports[0], services and probes that select ports by name will use ports[0]',
    ],
  ],
])('ports %s', (_, ports, wanted) => {
  expect(withOne({ ports })).toEqual(wanted);
});

test('fractional byte quantities draw a warning', () => {
  const resources = { limits: { memory: '1.5', cpu: '0.5' }, requests: { memory: '100E', 'ephemeral-storage': '10m' } };
  expect(withOne({ resources })).toEqual([
    'resources.limits[memory]: fractional byte value "1.5" is invalid, must be an integer',
    'resources.requests[ephemeral-storage]: fractional byte value "10m" is invalid, must be an integer',
  ]);
});

test('deprecated, empty, duplicate and negative values draw warnings', () => {
  expect(
    warningsOf({
      volumes: [
        { name: 'v', storageos: {} },
        { name: 'w', projected: { sources: [{}, { secret: {} }] } },
      ],
      imagePullSecrets: [{ name: 's' }, { name: 's' }, { name: '' }],
      terminationGracePeriodSeconds: -1,
    }),
  ).toEqual([
    'spec.volumes[0].storageOS: deprecated in v1.22, non-functional in v1.25+',
    'volume "w" (Projected) has no sources provided',
    'spec.imagePullSecrets[1].name: duplicate name "s"',
    'spec.imagePullSecrets[2].name: invalid empty name ""',
    'spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1',
  ]);
});

test('the number of warnings about duplicate ports is limited', () => {
  expect(withOne({ ports: Array.from({ length: 16_000 }, () => tcp({})) })).toHaveLength(500);
});

test.each<[string, (at: number) => JsonObject]>([
  ['host ports', (at) => tcp({ hostPort: at + 1 })],
  ['host addresses', (at) => tcp({ hostPort: 1, hostIP: `${at}` })],
])('each of the many %s that fit into a body is looked at once', (_, portAt) => {
  let looks = 0;
  const ports = Array.from({ length: 50_000 }, (_each, at) => {
    const { hostPort, ...port } = portAt(at);
    const get = (): Json => {
      looks += 1;
      return hostPort ?? null;
    };
    return Object.defineProperty(port, 'hostPort', { enumerable: true, get });
  });
  expect(withOne({ ports })).toEqual([]);
  expect(looks).toBe(ports.length);
});
