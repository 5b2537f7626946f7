import { describe, expect, test } from 'vitest';
import { forbidden, serviceUnavailable } from '../../src/api/errors.js';
import { type Event, Events } from '../../src/api/kinds/event.js';
import { type ApiObject, keyOf, resourceType } from '../../src/api/object.js';
import { defineController } from '../../src/controller/define-controller.js';
import { eventRecorder } from '../../src/controller/events.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';
import { FakeClient } from '../fake-client.js';

const object = (name: string, namespace?: string): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name, uid: `uid-${name}`, ...(namespace === undefined ? {} : { namespace }) },
});
const event = { type: 'Normal', reason: 'Done', message: 'it is done' } as const;

function world() {
  const clock = new FakeClock();
  const client = new FakeClient(clock);
  const stop = new AbortController();
  const recorder = eventRecorder('tester', { client, clock, log: silentLogger, signal: stop.signal });
  const events = async () => (await client.resource(Events).list()).items;
  return { clock, client, stop, recorder, events };
}

describe('an event recorder', () => {
  test('writes an event in the namespace of its object', async () => {
    const { recorder, events } = world();
    recorder.record(object('a', 'n'), event);
    await recorder.flush();
    expect(await events()).toMatchObject([
      {
        metadata: { name: expect.stringMatching(/^a\.[0-9a-f]+$/), namespace: 'n' },
        involvedObject: { apiVersion: 'v1', kind: 'Thing', name: 'a', namespace: 'n', uid: 'uid-a' },
        ...event,
        count: 1,
        firstTimestamp: '2026-01-01T00:00:00Z',
        source: { component: 'tester' },
      },
    ]);
  });

  test('truncates a long message between characters', async () => {
    const { recorder, events } = world();
    for (const before of [1_022, 1_023]) {
      recorder.record(object('a', 'n'), { ...event, message: `${'x'.repeat(before)}😀 and more` });
    }
    await recorder.flush();
    expect((await events()).map(({ message }) => message)).toEqual([`${'x'.repeat(1_022)}😀`, 'x'.repeat(1_023)]);
  });

  test('counts a repeated event instead of writing it again', async () => {
    const { clock, recorder, events } = world();
    for (let i = 0; i < 3; i++) {
      recorder.record(object('a', 'n'), event);
      await recorder.flush();
      await clock.advance(1_000);
    }
    expect(await events()).toMatchObject([
      { count: 3, firstTimestamp: '2026-01-01T00:00:00Z', lastTimestamp: '2026-01-01T00:00:02Z' },
    ]);
  });

  test('combines events that differ in their message only, from the tenth on, until a ten-minute pause', async () => {
    const { clock, recorder, events } = world();
    const record = async (message: string): Promise<void> => {
      recorder.record(object('a', 'n'), { ...event, message });
      await recorder.flush();
    };
    const told = async () => (await events()).map(({ message, count }) => `${message} ${count}`).sort();
    for (let i = 0; i < 9; i++) await record(`m${i}`);
    await record('m0');
    expect(await told()).toEqual(['m0 2', ...Array.from({ length: 8 }, (_, i) => `m${i + 1} 1`)]);
    for (let i = 9; i < 12; i++) await record(`m${i}`);
    expect((await told())[0]).toBe('(combined from similar events): m11 3');
    recorder.record(object('a', 'n'), { ...event, reason: 'Other', message: 'o' });
    await clock.advance(600_001);
    await record('m12');
    expect((await told()).filter((text) => /o 1|m12/.test(text))).toEqual(['m12 1', 'o 1']);
  });

  test('distinguishes objects of the same name without a uid', async () => {
    const { recorder, events } = world();
    const failed = [
      { kind: 'ConfigMap', namespace: 'one' },
      { kind: 'ConfigMap', namespace: 'two' },
      { kind: 'Secret', namespace: 'two' },
    ];
    for (const { kind, namespace } of failed) {
      // Together more than the limit of one object.
      for (let i = 0; i < 20; i++)
        recorder.record({ apiVersion: 'v1', kind, metadata: { name: 'a', namespace } }, event);
    }
    await recorder.flush();
    expect(await events()).toMatchObject(failed.map((involvedObject) => ({ involvedObject, count: 20 })));
  });

  test('writes a deleted event again', async () => {
    const { client, recorder, events } = world();
    for (let i = 0; i < 2; i++) {
      recorder.record(object('a', 'n'), event);
      await recorder.flush();
      expect(await events()).toMatchObject([{ count: 1 }]);
      await client.resource(Events).delete(keyOf((await events())[0] as Event));
    }
  });

  test('writes events of cluster-scoped objects to the default namespace, under a valid name', async () => {
    const { recorder, events } = world();
    recorder.record(object('Upper:Case'), event);
    await recorder.flush();
    expect((await events())[0]?.metadata).toMatchObject({
      name: expect.stringMatching(/^thing\./),
      namespace: 'default',
    });
  });

  test('limits a burst of events of an object', async () => {
    const { recorder, events } = world();
    for (let i = 0; i < 200; i++) recorder.record(object('a', 'n'), { ...event, reason: `Number${i}` });
    recorder.record(object('b', 'n'), event);
    await recorder.flush();
    expect((await events()).length).toBe(26);
  });

  test('writes one event in five minutes for an object that stays noisy', async () => {
    const { clock, recorder, events } = world();
    for (let minute = 0; minute < 240; minute++) {
      recorder.record(object('a', 'n'), event);
      await recorder.flush();
      await clock.advance(60_000);
    }
    // 25 immediately, and one for each full five minutes after the first.
    expect(await events()).toMatchObject([{ count: 25 + 47 }]);
  });

  test('finishes the current write when it is stopped, and writes no more', async () => {
    const { clock, client, stop } = world();
    const resource = client.resource(Events);
    const create: typeof resource.create = async (...given) => {
      await clock.sleep(1_000);
      return resource.create(...given);
    };
    const slow = { discover: () => client.discover(), resource: () => ({ ...resource, create }) as never };
    const recorder = eventRecorder('tester', { client: slow, clock, log: silentLogger, signal: stop.signal });
    for (let i = 0; i < 300; i++) recorder.record(object(`a${i}`, 'n'), event);
    let isFlushed = false;
    void recorder.flush().then(() => {
      isFlushed = true;
    });
    await settled();
    stop.abort();
    await clock.advance(1_000);
    expect(isFlushed).toBe(true);
    await clock.advance(60_000);
    expect(client.writes.length).toBe(1);
  });

  test('does not recreate a deleted event once it is stopped', async () => {
    const { client, stop, recorder } = world();
    recorder.record(object('a', 'n'), event);
    await recorder.flush();
    await client.resource(Events).deleteCollection();
    client.fail = ({ verb }) => {
      if (verb === 'patch') stop.abort();
      return undefined;
    };
    recorder.record(object('a', 'n'), event);
    await recorder.flush();
    expect(client.writes.map((write) => write.split(' ')[0])).toEqual(['create', 'deletecollection', 'patch']);
  });

  test('allows several recorders to report an object at the same time, with fractions of milliseconds', async () => {
    const clock = new FakeClock(Date.UTC(2026, 0, 1) + 0.5);
    const client = new FakeClient(clock);
    for (const component of ['one', 'other']) {
      const recorder = eventRecorder(component, { client, clock, log: silentLogger });
      recorder.record(object('a', 'n'), event);
      await recorder.flush();
    }
    const { items } = await client.resource(Events).list();
    expect(items.map(({ source }) => source?.component).sort()).toEqual(['one', 'other']);
  });

  test('warns of events it cannot write, once for each reason of event and failure', async () => {
    const { clock, client } = world();
    const lines: string[] = [];
    const at = (level: string) => (fields: object) =>
      void lines.push(`${level} ${'reason' in fields ? fields.reason : ''}`);
    const log = { ...silentLogger, debug: at('debug'), warn: at('warn') };
    const stop = new AbortController();
    const recorder = eventRecorder('tester', { client, clock, log, signal: stop.signal });
    const record = async (reason: string): Promise<void> => {
      recorder.record(object('a', 'n'), { ...event, reason });
      await recorder.flush();
    };
    client.fail = () => forbidden({ group: '', plural: 'events' }, 'it goes', [{ reason: 'NamespaceTerminating' }]);
    await record('Done');
    client.fail = () => forbidden({ group: '', plural: 'events' }, 'no');
    for (const reason of ['Done', 'Done', 'Undone']) await record(reason);
    client.fail = () => {
      stop.abort();
      return serviceUnavailable('gone');
    };
    await record('Done');
    expect(lines).toEqual(['debug Done', 'warn Done', 'debug Done', 'warn Undone', 'debug Done']);
  });

  test('is shared by all calls of a controller, and outlives a call with a timeout', async () => {
    const { clock, client, events } = world();
    const stop = new AbortController();
    const things = resourceType({ group: '', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true });
    let calls = 0;
    const running = defineController({
      name: 'tester',
      for: things,
      timeoutMs: 1_000,
      async reconcile(thing, context) {
        eventRecorder('tester', context).record(thing, event);
        calls++;
      },
    }).run({ client, clock, log: silentLogger, signal: stop.signal });
    const key = { namespace: 'n', name: 'a' };
    await client.resource(things).create({ apiVersion: 'v1', kind: 'Thing', metadata: key });
    await settled();
    await client.resource(things).patch(key, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } });
    await settled();
    expect(calls).toBe(2);
    expect(await events()).toMatchObject([{ ...event, count: 2 }]);
    stop.abort();
    await running;
  });

  test('never fails', async () => {
    const { client, recorder, events } = world();
    client.fail = ({ verb }) => (verb === 'create' ? new Error('no') : undefined);
    recorder.record(object('a', 'n'), event);
    await recorder.flush();
    client.fail = () => undefined;
    recorder.record(object('a', 'n'), event);
    await recorder.flush();
    expect((await events()).length).toBe(1);
  });
});
