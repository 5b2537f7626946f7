import { describe, expect, test } from 'vitest';
import { podColumns, podCompleted } from '../../../src/resources/pods/columns.js';

const now = Date.parse('2026-01-10T00:00:00Z');
const cells = (pod: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    podColumns.map(({ name, cell }) => [
      name,
      cell(
        { apiVersion: 'v1', kind: 'Pod', metadata: { creationTimestamp: '2026-01-01T00:00:00Z' }, ...pod } as never,
        now,
      ),
    ]),
  );

const running = { ready: true, state: { running: {} } };
const exited = (exitCode: number, more: object = {}) => ({ state: { terminated: { exitCode, ...more } } });
const waiting = (reason?: string) => ({ state: { waiting: reason === undefined ? {} : { reason } } });
const containers = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `c${at}` }));
const lasting = [{ name: 'i0', restartPolicy: 'Always' }];

describe('ready, status and restarts', () => {
  test.each<readonly [string, object, object | undefined, readonly [string, string, string]]>([
    ['nothing is reported', { containers: containers(2) }, undefined, ['0/2', '', '0']],
    ['containers are null', { containers: null }, { phase: 'Pending' }, ['0/0', 'Pending', '0']],
    ['there is a phase', { containers: containers(1) }, { phase: 'Pending' }, ['0/1', 'Pending', '0']],
    [
      'there is a reason',
      { containers: containers(1) },
      { phase: 'Failed', reason: 'Evicted' },
      ['0/1', 'Evicted', '0'],
    ],
    [
      'it has scheduling gates',
      { containers: containers(1) },
      { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] },
      ['0/1', 'SchedulingGated', '0'],
    ],
    [
      'it runs',
      { containers: containers(2) },
      { phase: 'Running', containerStatuses: [running, running] },
      ['2/2', 'Running', '0'],
    ],
    [
      'the first of two containers waits',
      { containers: containers(2) },
      {
        phase: 'Running',
        containerStatuses: [
          { ...waiting('CrashLoopBackOff'), restartCount: 3 },
          { ...waiting('Other'), restartCount: 1 },
        ],
      },
      ['0/2', 'CrashLoopBackOff', '4'],
    ],
    [
      'one container has completed and another is running and ready',
      { containers: containers(2) },
      {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True' }],
        containerStatuses: [exited(0, { reason: 'Completed' }), running],
      },
      ['1/2', 'Running', '0'],
    ],
    [
      'one container has completed and another is running',
      { containers: containers(2) },
      { phase: 'Running', containerStatuses: [exited(0, { reason: 'Completed' }), running] },
      ['1/2', 'NotReady', '0'],
    ],
    [
      'one container has completed and another has failed',
      { containers: containers(2) },
      { phase: 'Failed', containerStatuses: [exited(0, { reason: 'Completed' }), exited(1, { reason: 'Error' })] },
      ['0/2', 'Error', '0'],
    ],
    [
      'it was terminated by a signal',
      { containers: containers(1) },
      { containerStatuses: [exited(137, { signal: 9 })] },
      ['0/1', 'Signal:9', '0'],
    ],
    [
      'it was terminated with an exit code only',
      { containers: containers(1) },
      { containerStatuses: [exited(2)] },
      ['0/1', 'ExitCode:2', '0'],
    ],
    [
      'it was restarted',
      { containers: containers(1) },
      {
        phase: 'Running',
        containerStatuses: [
          {
            ...running,
            restartCount: 2,
            lastState: { terminated: { exitCode: 1, finishedAt: '2026-01-08T00:00:00Z' } },
          },
        ],
      },
      ['1/1', 'Running', '2 (2d ago)'],
    ],
    [
      'an init container is running',
      { containers: containers(1), initContainers: containers(2) },
      { phase: 'Pending', initContainerStatuses: [exited(0), waiting('PodInitializing')] },
      ['0/1', 'Init:1/2', '0'],
    ],
    [
      'an init container is waiting',
      { containers: containers(1), initContainers: containers(1) },
      { phase: 'Pending', initContainerStatuses: [{ ...waiting('ErrImagePull'), restartCount: 1 }] },
      ['0/1', 'Init:ErrImagePull', '1'],
    ],
    [
      'an init container failed',
      { containers: containers(1), initContainers: containers(1) },
      { phase: 'Pending', initContainerStatuses: [exited(3)] },
      ['0/1', 'Init:ExitCode:3', '0'],
    ],
    [
      'an init container failed after the pod was initialized',
      { containers: containers(1), initContainers: containers(1) },
      {
        phase: 'Running',
        conditions: [{ type: 'Initialized', status: 'True' }],
        initContainerStatuses: [{ ...exited(3), restartCount: 7 }],
        containerStatuses: [running],
      },
      ['1/1', 'Init:ExitCode:3', '0'],
    ],
    [
      'a sidecar is running',
      { containers: containers(1), initContainers: lasting },
      {
        phase: 'Running',
        initContainerStatuses: [{ name: 'i0', started: true, ready: true, restartCount: 1 }],
        containerStatuses: [{ ...running, restartCount: 1 }],
      },
      ['2/2', 'Running', '2'],
    ],
  ])('if %s', (_, spec, status, [ready, state, restarts]) => {
    expect(cells({ spec, status })).toMatchObject({ Ready: ready, Status: state, Restarts: restarts, Age: '9d' });
  });

  test.each([
    ['Running', undefined, 'Terminating'],
    ['Running', 'NodeLost', 'Unknown'],
    ['Succeeded', undefined, 'Succeeded'],
  ])('the status of a terminating pod: %s, %s', (phase, reason, state) => {
    const metadata = { deletionTimestamp: '2026-01-09T00:00:00Z' };
    expect(cells({ metadata, status: { phase, ...(reason === undefined ? {} : { reason }) } })).toMatchObject({
      Status: state,
    });
  });
});

test('wide columns', () => {
  const none = '<none>';
  expect(cells({})).toMatchObject({ IP: none, Node: none, 'Nominated Node': none, 'Readiness Gates': none });
  const spec = { nodeName: 'n', readinessGates: [{ conditionType: 'a' }, { conditionType: 'b' }] };
  const status = { podIPs: [{ ip: '10.0.0.1' }], nominatedNodeName: 'm', conditions: [{ type: 'b', status: 'True' }] };
  expect(cells({ spec, status })).toMatchObject({
    IP: '10.0.0.1',
    Node: 'n',
    'Nominated Node': 'm',
    'Readiness Gates': '1/2',
  });
});

test.each([
  ['Succeeded', 'The pod has completed successfully.'],
  ['Failed', 'The pod failed.'],
  ['Running', undefined],
  ['constructor', undefined],
])('a %s pod is completed: %s', (phase, message) => {
  expect(podCompleted({ status: { phase } } as never)?.message).toBe(message);
});
