import { expect, test } from 'vitest';
import { AuditLog, lineBackend } from '../../../src/apiserver/operations/audit-log.js';
import { readAuditPolicy } from '../../../src/apiserver/operations/audit-policy.js';
import { RequestTracker } from '../../../src/apiserver/operations/request-tracker.js';
import type { ApiRequest, ApiResponse, Result } from '../../../src/apiserver/request.js';
import { parseQuery, parseRequestInfo } from '../../../src/http/request-info.js';
import { silentLogger } from '../../../src/runtime/logger.js';
import { openMetrics } from '../../../src/runtime/metrics.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';

const alice = { username: 'alice', groups: [] };
const rules = [{ level: 'RequestResponse', omitManagedFields: true, omitStages: ['RequestReceived'] }];
const policy = await readAuditPolicy(JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }));

function recording() {
  const lines: string[] = [];
  const clock = new FakeClock();
  const sink = { write: (line: string) => lines.push(line) > 0, close: async () => {} };
  const audit = new AuditLog(() => policy, [lineBackend(sink)], { clock, log: silentLogger, metrics: openMetrics() });
  return { audit, clock, lines };
}

const requestOf = (method: string, path: string, query = ''): ApiRequest => ({
  info: parseRequestInfo(method, path, parseQuery(query)),
  method,
  query: parseQuery(query),
  uri: path,
  caller: { user: alice },
  header: () => undefined,
  body: async () => ({ bytes: Buffer.from('{}'), contentType: undefined }),
  signal: new AbortController().signal,
});

const path = '/apis/example.com/v1/widgets/a';
const managed = (result: object): Result => ({
  type: 'object',
  code: 200,
  object: { kind: 'Widget', metadata: { name: 'a', managedFields: [{}] }, ...result },
});

test.each([
  [
    'application/json-patch+json',
    '[ {"op": "add", "n": 1.50, "n": 9223372036854775807} ]',
    '[{"op":"add","n":1.50,"n":9223372036854775807}]',
  ],
  ['application/merge-patch+json', '{"a": "<b> &c"}\n', String.raw`{"a":"\u003cb\u003e \u0026c"}`],
  ['application/apply-patch+yaml', '{"n": 1.50}', '{"n":1.50}'],
  [
    'application/apply-patch+yaml',
    'x: 9223372036854775807\na: "<b>"',
    String.raw`{"a":"\u003cb\u003e","x":9223372036854775807}`,
  ],
  ['application/merge-patch+json', '{"a": ', undefined],
])('a patch is recorded as it was written (%s, %s)', async (contentType, sent, recorded) => {
  const { audit, lines } = recording();
  const record = audit.begin(requestOf('PATCH', path), alice, 0);
  await record?.sentPatch({ bytes: Buffer.from(sent), contentType });
  await record?.complete(200);
  expect(/"requestObject":(.*),"requestReceivedTimestamp"/.exec(lines.join())?.[1]).toBe(recorded);
});

test('an answer is recorded with every digit of its numbers and without managed fields', async () => {
  const { audit, lines } = recording();
  const record = audit.begin(requestOf('GET', path), alice, 0);
  record?.answered(managed({ n: 9223372036854775807n }));
  await record?.complete(200);
  expect(lines.join()).toContain('"responseObject":{"kind":"Widget","metadata":{"name":"a"},"n":9223372036854775807}');
});

test.each([
  ['', true],
  ['watch=1', false],
])('the latency of a slow request with the query "%s" is recorded: %s', async (query, isTold) => {
  const { audit, clock, lines } = recording();
  const tracker = new RequestTracker(
    { audit, clock, closing: () => false },
    requestOf('GET', '/api/v1/secrets', query),
  );
  tracker.authenticatedLocally(alice);
  await clock.advance(501);
  const response: ApiResponse = {
    result: managed({}),
    warnings: [],
    representation: { mediaType: 'json', pretty: false },
  };
  tracker.tracked(response).onSettled?.({ code: 200, bytes: 0 });
  await clock.advance(0);
  expect(lines.at(-1)?.includes('apiserver.latency.k8s.io/total')).toBe(isTold);
});
