import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Event, Events, type EventsV1Event, EventsV1Events } from '../../src/api/kinds/event.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { type TestServer, testServer } from '../../src/testing/test-server.js';
import { type Served, serve } from '../apiserver/served.js';

/** Events in the core group and in `events.k8s.io` are the same objects. */

let it: Served;
beforeAll(async () => {
  it = await serve({ controllers: [] });
});
afterAll(() => it.stop());

const core = '/api/v1/namespaces/default/events';
const newer = '/apis/events.k8s.io/v1/namespaces/default/events';
const report = (name: string) => ({
  metadata: { name, namespace: 'default' },
  eventTime: '2024-01-01T00:00:00.000000Z',
  reportingController: 'example.com/c',
  reportingInstance: 'i',
  action: 'A',
  reason: 'R',
  regarding: { kind: 'ConfigMap', name: 'x', namespace: 'default' },
  note: 'n',
  type: 'Normal',
});

test('an event created in one group is read, selected, watched, changed and deleted in the other', async () => {
  const made = await it.ask('POST', newer, { body: report('a') });
  expect(made.code).toBe(201);
  const { metadata } = made.json();
  const read = (await it.ask('GET', `${core}/a`)).json();
  expect(read).toMatchObject({
    apiVersion: 'v1',
    metadata: { uid: metadata.uid, resourceVersion: metadata.resourceVersion },
    involvedObject: { name: 'x' },
    message: 'n',
    reportingComponent: 'example.com/c',
  });
  const selected = (path: string, selector: string) =>
    it.ask('GET', `${path}?fieldSelector=${encodeURIComponent(selector)}`).then((answer) => answer.json().items.length);
  expect(await selected(newer, 'regarding.name=x')).toBe(1);
  expect(await selected(newer, 'reportingController!=example.com/c')).toBe(0);
  expect(await selected(core, 'involvedObject.name=x')).toBe(1);

  const repeated = await it.ask('PATCH', `${core}/a`, {
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { series: { count: 3, lastObservedTime: '2024-01-01T00:01:00.000000Z' } },
  });
  expect(repeated.json().metadata.managedFields).toMatchObject([{ apiVersion: 'v1' }]);
  const [again] = (await it.ask('GET', newer)).json().items;
  expect(again).toMatchObject({ note: 'n', series: { count: 3 } });

  const gone = await it.ask('DELETE', `${newer}/a`);
  expect(gone.json().details).toMatchObject({ group: 'events.k8s.io', name: 'a' });
  expect((await it.ask('GET', `${core}/a`)).code).toBe(404);
});

test('an invalid event is refused with the kind that is stored', async () => {
  const refused = await it.ask('POST', newer, { body: { ...report('b'), type: 'Odd' } });
  expect(refused.json().message).toBe('Event "b" is invalid: type: Invalid value: "": has invalid value: Odd');
});

test('a body of the other group is refused for its version, whatever its fields', async () => {
  const { code, headers, json } = await it.ask('POST', core, {
    body: { apiVersion: 'events.k8s.io/v1', kind: 'Event', ...report('c') },
  });
  expect([code, json().message]).toEqual([
    400,
    'the API version in the data (events.k8s.io/v1) does not match the expected API version (v1)',
  ]);
  expect(headers['warning']).toBeUndefined();
});

test('both groups are discovered with the same storage version hash', async () => {
  const hashes = ['/api/v1', '/apis/events.k8s.io/v1'].map(async (path) => {
    const { resources } = (await it.ask('GET', path)).json();
    return resources.find(({ name }: { name: string }) => name === 'events').storageVersionHash;
  });
  // The hashes of kube-apiserver.
  expect(await Promise.all(hashes)).toEqual(['r2yiGXH7wu8=', 'r2yiGXH7wu8=']);
});

test('both groups work under another domain', async () => {
  const server: TestServer = await testServer({
    domains: { api: 'example.org', signer: 'example.net', extensions: ['x-kubernetes-'] },
  });
  try {
    const made: EventsV1Event = await server.client
      .resource(EventsV1Events)
      .create({ apiVersion: 'events.example.org/v1', kind: 'Event', ...report('d') } as EventsV1Event);
    expect(made.apiVersion).toBe('events.example.org/v1');
    const found: Event | undefined = await server.client
      .resource(Events)
      .get({ namespace: 'default', name: made.metadata.name ?? '' });
    expect(found?.message).toBe('n');
  } finally {
    await server.stop();
  }
});

test('an event that is not written again is deleted after its TTL', async () => {
  const clock = new FakeClock();
  const server = await testServer({ clock, controllers: [], eventTtlSeconds: 600 });
  try {
    const events = server.client.resource(Events);
    const key = { namespace: 'default', name: 'e' };
    await events.create({ apiVersion: 'v1', kind: 'Event', metadata: key, involvedObject: { namespace: 'default' } });
    const told: string[] = [];
    const watching = events.watch({ namespace: 'default' }).subscribe(({ type }) => told.push(type));
    await clock.advance(599_999);
    expect(await events.get(key)).toBeDefined();
    await clock.advance(1);
    expect(await events.get(key)).toBeUndefined();
    await clock.advance(0);
    watching.unsubscribe();
    expect(told).toEqual(['ADDED', 'DELETED']);
  } finally {
    await server.stop();
  }
});
