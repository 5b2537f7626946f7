import { expect, test } from 'vitest';
import { nodeColumns } from '../../../src/resources/nodes/columns.js';

const cells = (node: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    nodeColumns.map(({ name, cell }) => [
      name,
      cell({ apiVersion: 'v1', kind: 'Node', metadata: {}, ...node } as never, 0),
    ]),
  );
const ready = (status: string) => ({
  status: {
    conditions: [
      { type: 'Other', status: 'True' },
      { type: 'Ready', status },
    ],
  },
});

test.each<readonly [object, string]>([
  [{}, 'Unknown'],
  [ready('True'), 'Ready'],
  [ready('Unknown'), 'NotReady'],
  [{ ...ready('True'), spec: { unschedulable: true } }, 'Ready,SchedulingDisabled'],
])('the status of node %j is %s', (node, state) => {
  expect(cells(node)).toMatchObject({ Status: state });
});

test.each<readonly [Readonly<Record<string, string>>, string]>([
  [{}, '<none>'],
  [{ 'kubernetes.io/role': 'b', 'node-role.kubernetes.io/a': '', 'node-role.kubernetes.io/': 'x' }, 'a,b'],
  [{ 'kubernetes.io/role': 'a', 'node-role.kubernetes.io/a': '' }, 'a'],
])('labels %j mean the roles %s', (labels, roles) => {
  expect(cells({ metadata: { labels } })).toMatchObject({ Roles: roles });
});

test('columns about the machine', () => {
  const unknown = '<unknown>';
  expect(cells({})).toMatchObject({
    Version: '',
    'Internal-IP': '<none>',
    'OS-Image': unknown,
    'Kernel-Version': unknown,
  });
  const nodeInfo = {
    kubeletVersion: 'v1',
    kernelVersion: '6',
    architecture: 'arm64',
    osImage: 'D',
    containerRuntimeVersion: 'c',
  };
  const addresses = [
    { type: 'InternalIP', address: '10.0.0.1' },
    { type: 'InternalIP', address: '10.0.0.2' },
    { type: 'ExternalIP', address: '1.2.3.4' },
  ];
  expect(cells({ status: { nodeInfo, addresses } })).toMatchObject({
    Version: 'v1',
    'Internal-IP': '10.0.0.1',
    'External-IP': '1.2.3.4',
    'OS-Image': 'D',
    'Kernel-Version': '6 (arm64)',
    'Container-Runtime': 'c',
  });
});
