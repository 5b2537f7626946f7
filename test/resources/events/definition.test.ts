import { expect, test } from 'vitest';
import { events } from '../../../src/resources/events/definition.js';
import { cells, read, write } from '../write.js';

const metadata = { name: 'e', namespace: 'ns' };
const involvedObject = { kind: 'ConfigMap', name: 'x', namespace: 'ns' };
const eventTime = '2024-01-01T00:00:00.000000Z';
const full = {
  metadata,
  involvedObject,
  eventTime,
  reportingComponent: 'example.com/c',
  reportingInstance: 'i',
  action: 'A',
  reason: 'R',
};
const mismatch = (namespace: string): string =>
  `involvedObject.namespace: Invalid value: "${namespace}": does not match event.namespace`;

test.each([
  ['of its namespace', { metadata, involvedObject, type: 'Strange' }, []],
  ['of another namespace', { metadata, involvedObject: { namespace: 'else' } }, [mismatch('else')]],
  ['of no namespace', { metadata, involvedObject: {} }, [mismatch('')]],
  ['of the cluster, in default', { metadata: { ...metadata, namespace: 'default' }, involvedObject: {} }, []],
  ['new, of another namespace', { ...full, involvedObject: { namespace: 'else' } }, []],
  ['new, of the cluster', { ...full, involvedObject: {} }, [mismatch('')]],
  ['new, in kube-system', { ...full, metadata: { ...metadata, namespace: 'kube-system' }, involvedObject: {} }, []],
  [
    'new, with texts too long',
    {
      ...full,
      reportingInstance: 'i'.repeat(129),
      action: 'a'.repeat(129),
      reason: 'r'.repeat(129),
      message: 'm'.repeat(1_025),
    },
    [
      'reportingInstance: Invalid value: "": can have at most 128 characters',
      'action: Invalid value: "": can have at most 128 characters',
      'reason: Invalid value: "": can have at most 128 characters',
      'message: Invalid value: "": can have at most 1024 characters',
    ],
  ],
])('%s', (_what, body, violations) => {
  expect(write(events, body).violations).toEqual(violations);
});

test('the newer sort must say who reports it and why', () => {
  const fields = write(events, { metadata, involvedObject, eventTime }).violations.map((text) =>
    text.split(': ').slice(0, 2).join(': '),
  );
  expect(fields).toEqual([
    'reportingComponent: Required value',
    'reportingComponent: Invalid value',
    'reportingComponent: Invalid value',
    'reportingInstance: Required value',
    'action: Required value',
    'reason: Required value',
  ]);
});

test('what is not set is shown as nothing', () => {
  const {
    metadata: _metadata,
    apiVersion: _apiVersion,
    kind: _kind,
    ...rest
  } = write(events, { metadata, involvedObject }).object;
  expect(rest).toEqual({
    involvedObject,
    source: {},
    firstTimestamp: null,
    lastTimestamp: null,
    eventTime: null,
    reportingComponent: '',
    reportingInstance: '',
  });
});

test.each([
  ['source', { source: { component: 'a' }, reportingComponent: 'b' }, 'a'],
  ['source', { reportingComponent: 'b' }, 'b'],
  ['reportingComponent', { source: { component: 'a' } }, ''],
  ['involvedObject.name', { involvedObject }, 'x'],
  ['involvedObject.fieldPath', {}, ''],
  ['reason', { reason: 'R' }, 'R'],
])('selector %s of %j', (name, body, value) => {
  expect(events.selectableFields?.[name]?.(read(events, body))).toBe(value);
});

test.each([
  [
    {
      involvedObject,
      type: 'Normal',
      message: ' m\n',
      source: { component: 'c', host: 'h' },
      count: 3,
      firstTimestamp: '2024-05-06T07:07:09Z',
    },
    {
      'Last Seen': '60s',
      Object: 'configmap/x',
      Source: 'c, h',
      Message: 'm',
      'First Seen': '60s',
      Count: 3,
      Name: 'x',
    },
  ],
  [
    {
      eventTime: '2024-05-06T07:07:09.000000Z',
      series: { count: 7, lastObservedTime: '2024-05-06T07:08:08.000000Z' },
      reportingComponent: 'r',
    },
    { 'Last Seen': '1s', Object: '', Source: 'r', 'First Seen': '60s', Count: 7 },
  ],
  [{}, { 'Last Seen': '<unknown>', 'First Seen': '<unknown>', Count: 1 }],
])('row of %j', (body, row) => {
  expect(cells(events, body)).toMatchObject(row);
  expect(events.leadsWithName).toBe(false);
});
