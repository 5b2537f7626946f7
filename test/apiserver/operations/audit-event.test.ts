import { expect, test } from 'vitest';
import {
  type AuditFacts,
  auditEvent,
  auditLine,
  sourceAddresses,
} from '../../../src/apiserver/operations/audit-event.js';

const facts: AuditFacts = {
  level: 'RequestResponse',
  auditId: 'id',
  uri: '/api/v1/namespaces/a/configmaps?fieldManager=<x>',
  verb: 'create',
  user: { username: 'alice', uid: '7', groups: ['g'], extra: { k: ['v'] } },
  impersonated: { username: 'bob', groups: [] },
  constraint: 'impersonate:user-info',
  sourceIPs: ['192.0.2.1'],
  userAgent: 'kubectl',
  object: {
    resource: 'configmaps',
    namespace: 'a',
    name: 'b',
    uid: '',
    apiGroup: '',
    apiVersion: 'v1',
    resourceVersion: '',
    subresource: '',
  },
  status: { code: 201 },
  requestObject: '{"kind":"ConfigMap"}',
  responseObject: '{"kind":"ConfigMap","apiVersion":"v1"}',
  received: Date.UTC(2026, 0, 2, 3, 4, 5, 6),
  annotations: new Map([
    ['b', '2'],
    ['a', '1'],
  ]),
};

test('an event is one line with its members in order', () => {
  expect(auditLine(auditEvent('ResponseComplete', facts.received + 7, facts))).toBe(
    `${[
      '{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse","auditID":"id","stage":"ResponseComplete"',
      String.raw`"requestURI":"/api/v1/namespaces/a/configmaps?fieldManager=\u003cx\u003e","verb":"create"`,
      '"user":{"username":"alice","uid":"7","groups":["g"],"extra":{"k":["v"]}},"impersonatedUser":{"username":"bob"}',
      '"authenticationMetadata":{"impersonationConstraint":"impersonate:user-info"}',
      '"sourceIPs":["192.0.2.1"],"userAgent":"kubectl"',
      '"objectRef":{"resource":"configmaps","namespace":"a","name":"b","apiVersion":"v1"}',
      '"responseStatus":{"metadata":{},"code":201}',
      '"requestObject":{"kind":"ConfigMap"},"responseObject":{"kind":"ConfigMap","apiVersion":"v1"}',
      '"requestReceivedTimestamp":"2026-01-02T03:04:05.006000Z","stageTimestamp":"2026-01-02T03:04:05.013000Z"',
      '"annotations":{"a":"1","b":"2"}}',
    ].join(',')}\n`,
  );
});

test('unknown members are omitted, except for the user', () => {
  const line = auditLine(
    auditEvent('RequestReceived', 0, {
      ...facts,
      level: 'Metadata',
      user: undefined,
      impersonated: undefined,
      constraint: undefined,
      sourceIPs: [],
      userAgent: '',
      object: undefined,
      status: undefined,
      requestObject: undefined,
      responseObject: undefined,
      annotations: new Map(),
    }),
  );
  expect(Object.keys(JSON.parse(line))).toEqual([
    'kind',
    'apiVersion',
    'level',
    'auditID',
    'stage',
    'requestURI',
    'verb',
    'user',
    'requestReceivedTimestamp',
    'stageTimestamp',
  ]);
  expect(JSON.parse(line).user).toEqual({});
});

test.each([
  ['\u00e9'.repeat(512), '\u00e9'.repeat(512)],
  [`x${'\u00e9'.repeat(512)}`, `x${'\u00e9'.repeat(511)}\ufffd...TRUNCATED`],
  [`${'x'.repeat(1_022)}\u{1f511}`, `${'x'.repeat(1_022)}\ufffd\ufffd...TRUNCATED`],
])('the length of a user agent is counted in bytes', (userAgent, told) => {
  expect(JSON.parse(auditLine(auditEvent('Panic', 0, { ...facts, userAgent }))).userAgent).toBe(told);
});

test('a long user agent is truncated, and tokens in the URL are redacted', () => {
  const uri = '/watch?access_token=secret&a=b&acces%73%5Ftoken=secret;ACCESS_TOKEN=secret&no_access_token=c';
  const line = JSON.parse(auditLine(auditEvent('Panic', 0, { ...facts, userAgent: 'x'.repeat(1_025), uri })));
  expect(line.userAgent).toBe(`${'x'.repeat(1_024)}...TRUNCATED`);
  expect(line.requestURI).toBe(
    '/watch?access_token=[redacted]&a=b&acces%73%5Ftoken=[redacted];ACCESS_TOKEN=[redacted]&no_access_token=c',
  );
});

test.each([
  [{}, '::ffff:192.0.2.1', ['192.0.2.1']],
  [{}, '2001:db8::1', ['2001:db8::1']],
  [{}, undefined, []],
  [
    { 'x-forwarded-for': '198.51.100.1, unknown,2001:db8::2' },
    '192.0.2.1',
    ['198.51.100.1', '2001:db8::2', '192.0.2.1'],
  ],
  [{ 'x-forwarded-for': '198.51.100.1,192.0.2.1' }, '192.0.2.1', ['198.51.100.1', '192.0.2.1']],
  [{ 'x-real-ip': '198.51.100.1' }, '192.0.2.1', ['198.51.100.1', '192.0.2.1']],
  [{ 'x-real-ip': '198.51.100.1', 'x-forwarded-for': '198.51.100.1' }, undefined, ['198.51.100.1']],
])('the source addresses of %j from %s are %j', (headers, remoteAddress, expected) => {
  const header = (name: string): string | undefined => new Map(Object.entries(headers)).get(name);
  expect(sourceAddresses({ header, remoteAddress })).toEqual(expected);
});
