import { describe, expect, test } from 'vitest';
import { defaultDomains } from '../../../src/api/domains.js';
import { coreEvents as events, eventsV1Definition } from '../../../src/resources/events/definition.js';
import { cells, read, write } from '../write.js';

const newer = eventsV1Definition(defaultDomains);
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
  ['core event about an object in its namespace', { metadata, involvedObject, type: 'Strange' }, []],
  [
    'core event about an object in another namespace',
    { metadata, involvedObject: { namespace: 'else' } },
    [mismatch('else')],
  ],
  ['core event about an object without a namespace', { metadata, involvedObject: {} }, [mismatch('')]],
  [
    'core event about a cluster-scoped object, in default',
    { metadata: { ...metadata, namespace: 'default' }, involvedObject: {} },
    [],
  ],
  ['with eventTime, about an object in another namespace', { ...full, involvedObject: { namespace: 'else' } }, []],
  ['with eventTime, about a cluster-scoped object', { ...full, involvedObject: {} }, [mismatch('')]],
  [
    'with eventTime, in kube-system',
    { ...full, metadata: { ...metadata, namespace: 'kube-system' }, involvedObject: {} },
    [],
  ],
  [
    'with eventTime, and texts too long',
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

test('an event with eventTime requires a reporter and a reason', () => {
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

test('unset fields are shown as zero values', () => {
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

const newerEvent = {
  metadata,
  eventTime,
  reportingController: 'example.com/c',
  reportingInstance: 'i',
  action: 'A',
  reason: 'R',
  regarding: involvedObject,
  note: 'n',
  type: 'Normal',
};
const lastObservedTime = eventTime;
const unset = 'Invalid value: "": needs to be unset';

describe('events.k8s.io', () => {
  test.each([
    ['no changes', {}, []],
    ['no time', { eventTime: null }, ['eventTime: Required value']],
    ['an unknown type', { type: 'Odd' }, ['type: Invalid value: "": has invalid value: Odd']],
    [
      'a series of one',
      { series: { count: 1 } },
      ['series.count: Invalid value: "": should be at least 2', 'series.lastObservedTime: Required value'],
    ],
    ['a series', { series: { count: 2, lastObservedTime } }, []],
    [
      'deprecated fields',
      {
        deprecatedCount: 1,
        deprecatedSource: { host: 'h' },
        deprecatedFirstTimestamp: '2024-01-01T00:00:00Z',
        deprecatedLastTimestamp: '2024-01-01T00:00:00Z',
      },
      [`firstTimestamp: ${unset}`, `lastTimestamp: ${unset}`, `count: ${unset}`, `source: ${unset}`],
    ],
    ['an object in another namespace', { regarding: {} }, [mismatch('')]],
  ])('a new event with %s', (_what, change, violations) => {
    expect(write(newer, { ...newerEvent, ...change }).violations).toEqual(violations);
  });

  test('violations of the reporter have its name in this group', () => {
    expect(write(newer, { ...newerEvent, reportingController: '' }).violations[0]).toBe(
      'reportingController: Required value',
    );
  });

  const immutable = 'field is immutable';
  test.each([
    ['its series', { series: { count: 2, lastObservedTime } }, []],
    [
      'its series, to an invalid one',
      { series: { count: 1, lastObservedTime } },
      ['series.count: Invalid value: "": should be at least 2'],
    ],
    ['its note', { note: 'm' }, [`message: Invalid value: "m": ${immutable}`]],
    ['its reason', { reason: 'S' }, Array(2).fill(`reason: Invalid value: "S": ${immutable}`)],
    ['its reporter', { reportingController: 'c' }, [`reportingController: Invalid value: "c": ${immutable}`]],
    [
      'its object',
      { regarding: { ...involvedObject, kind: 'Secret' } },
      [
        'involvedObject: Invalid value: {"Kind":"Secret","Namespace":"ns","Name":"x","UID":"","APIVersion":"",' +
          `"ResourceVersion":"","FieldPath":""}: ${immutable}`,
      ],
    ],
    [
      'its source',
      { deprecatedSource: { component: 'c' } },
      [`source: Invalid value: {"Component":"c","Host":""}: ${immutable}`],
    ],
    [
      'its time',
      { deprecatedCount: 3, eventTime: '2024-01-02T00:00:00.000000Z' },
      [
        `count: Invalid value: 3: ${immutable}`,
        `eventTime: Invalid value: "2024-01-02T00:00:00.000000Z": ${immutable}`,
      ],
    ],
  ])('an event that changes %s', (_what, change, violations) => {
    expect(write(newer, { ...newerEvent, ...change }, newerEvent).violations).toEqual(violations);
  });

  test('an event is the same object in both groups', () => {
    const stored = newer.codec?.store(read(newer, { ...newerEvent, deprecatedCount: 2 }));
    expect(stored).toMatchObject({
      apiVersion: 'v1',
      involvedObject,
      message: 'n',
      count: 2,
      reportingComponent: 'example.com/c',
    });
    expect(stored).not.toHaveProperty('note');
    const { apiVersion, ...again } = newer.codec?.read(stored ?? {}) ?? {};
    expect(apiVersion).toBe('events.k8s.io/v1');
    expect(again).toMatchObject({ ...newerEvent, deprecatedCount: 2 });
  });

  test('empty fields are left out, as in answers of this group', () => {
    const older = newer.codec?.read({
      apiVersion: 'v1',
      kind: 'Event',
      metadata,
      reportingComponent: '',
      involvedObject,
    });
    expect(older).not.toHaveProperty('reportingController');
  });

  test('the group follows the configured domain', () => {
    const other = eventsV1Definition({ ...defaultDomains, api: 'example.com' });
    expect(other.codec?.read({ metadata, involvedObject }).apiVersion).toBe('events.example.com/v1');
  });

  test('selectors and columns work as for core events', () => {
    expect(newer.selectableFields?.['regarding.name']?.(read(newer, newerEvent))).toBe('x');
    expect(newer.selectableFields).not.toHaveProperty('source');
    expect(cells(newer, newerEvent)).toMatchObject({ Object: 'configmap/x', Message: 'n', Source: 'example.com/c, i' });
  });
});

test('in events.k8s.io, violations of the core group come first, then those of metadata', () => {
  const body = {
    metadata: { ...metadata, labels: { ',': '' } },
    eventTime,
    regarding: involvedObject,
    type: 'Strange',
  };
  const fieldsOf = (previous?: object): readonly string[] => [
    ...new Set(write(newer, body, previous).violations.map((text) => text.split(': ')[0] ?? '')),
  ];
  const ofCore = ['reportingController', 'reportingInstance', 'action', 'reason'];
  expect(fieldsOf()).toEqual([...ofCore, 'metadata.labels', 'type']);
  expect(fieldsOf({ ...body, metadata, type: 'Other' })).toEqual([...ofCore, 'metadata.labels', 'type']);
});
