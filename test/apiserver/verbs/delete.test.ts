import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Served, serve } from '../served.js';

let it: Served;
beforeAll(async () => {
  it = await serve();
});
afterAll(() => it.stop());

test('a namespace without finalizers is removed by the second deletion', async () => {
  const path = '/api/v1/namespaces/n';
  const body = { metadata: { name: 'n' } };
  await it.ask('POST', '/api/v1/namespaces', { body });
  await it.ask('PUT', `${path}/finalize`, { body });
  const { metadata, status } = (await it.ask('DELETE', path)).json();
  expect([typeof metadata.deletionTimestamp, status.phase]).toEqual(['string', 'Terminating']);
  expect((await it.ask('GET', path)).code).toBe(200);
  expect((await it.ask('DELETE', path)).code).toBe(200);
  expect((await it.ask('GET', path)).code).toBe(404);
});

test('a second deletion of a namespace held by metadata finalizers sets its grace period to 0', async () => {
  const path = '/api/v1/namespaces/held';
  const metadata = { name: 'held', finalizers: ['a.test/own'] };
  await it.ask('POST', '/api/v1/namespaces', { body: { metadata } });
  const marked = (await it.ask('DELETE', path)).json();
  await it.ask('PUT', `${path}/finalize`, { body: { metadata } });
  const [first, second] = [(await it.ask('DELETE', path)).json(), (await it.ask('DELETE', path)).json()];
  const grace = [marked, first, second].map((namespace) => namespace.metadata.deletionGracePeriodSeconds);
  expect(grace).toEqual([undefined, 0, 0]);
  expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
});

test.each([
  ['Orphan', ['orphan']],
  ['Foreground', ['foregroundDeletion']],
])('an object deleted with the policy %s waits for the garbage collector', async (propagationPolicy, finalizers) => {
  const path = '/api/v1/namespaces/default/configmaps';
  await it.ask('POST', path, { body: { metadata: { name: 'c', finalizers: ['a.test/own'] } } });
  const { metadata } = (await it.ask('DELETE', `${path}/c`, { body: { propagationPolicy } })).json();
  expect(metadata).toMatchObject({ finalizers: ['a.test/own', ...finalizers], deletionGracePeriodSeconds: 0 });
  await it.ask('PATCH', `${path}/c`, {
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { metadata: { finalizers: null } },
  });
});

test('an unmet precondition of an event is reported under the group it is stored in', async () => {
  const path = '/apis/events.k8s.io/v1/namespaces/default/events/e';
  const involvedObject = { kind: 'ConfigMap', name: 'c', namespace: 'default' };
  await it.ask('POST', '/api/v1/namespaces/default/events', { body: { metadata: { name: 'e' }, involvedObject } });
  const { message, details } = (await it.ask('DELETE', path, { body: { preconditions: { uid: 'another' } } })).json();
  expect([message.split(':')[0], details]).toEqual([
    'Operation cannot be fulfilled on Event "e"',
    { name: 'e', kind: 'Event' },
  ]);
});
