import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiObject, ResourceType } from '../../src/api/object.js';
import type { Client } from '../../src/client/client.js';
import { createServer, type Server } from '../../src/embed.js';

/** The events of a watch in the server's own process. */

interface ConfigMap extends ApiObject {
  readonly data?: Readonly<Record<string, string>>;
}
const configMaps: ResourceType<ConfigMap> = {
  group: '',
  version: 'v1',
  plural: 'configmaps',
  singular: 'configmap',
  kind: 'ConfigMap',
  listKind: 'ConfigMapList',
  namespaced: true,
};

let server: Server;
let client: Client;
beforeAll(async () => {
  server = await createServer({ store: 'memory:', controllers: [] });
  client = server.client();
});
afterAll(() => server.stop());

const create = (name: string, data: Readonly<Record<string, string>> = {}): Promise<ConfigMap> =>
  client
    .resource(configMaps)
    .create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name }, data });

interface Followed {
  readonly objects: readonly ApiObject[];
  /** Resolves when this many have arrived. */
  readonly all: Promise<void>;
}

/** Watches objects from now on. */
async function follow(count: number): Promise<Followed> {
  const { resourceVersion = '' } = (await client.resource(configMaps).list()).metadata;
  const objects: ApiObject[] = [];
  const all = new Promise<void>((resolve, reject) => {
    const running = client
      .resource(configMaps)
      .watch({ namespace: 'default', resourceVersion })
      .subscribe({
        next: (event) => {
          if (event.type === 'BOOKMARK') return;
          objects.push(event.object);
          if (objects.length < count) return;
          running.unsubscribe();
          resolve();
        },
        error: reject,
        complete: () => reject(new Error('the watch ended')),
      });
  });
  return { objects, all };
}

const namesOf = (objects: readonly ApiObject[]): readonly (string | undefined)[] =>
  objects.map(({ metadata }) => metadata.name);

const versionsOf = (objects: readonly ApiObject[]): readonly number[] =>
  objects.map(({ metadata }) => Number(metadata.resourceVersion));

test('large objects keep their place in the order of events', async () => {
  const { objects, all } = await follow(3);
  const large = { text: 'x'.repeat(900_000) };
  await create('before');
  await create('large', large);
  await create('after');
  await all;
  expect(namesOf(objects)).toEqual(['before', 'large', 'after']);
});

test('a thousand changes at once arrive in order, though the queue is much shorter', async () => {
  const wanted = Array.from({ length: 1_000 }, (_, at) => `many-${at}`);
  const { objects, all } = await follow(wanted.length);
  await Promise.all(wanted.map((name) => create(name)));
  await all;
  expect(new Set(namesOf(objects))).toEqual(new Set(wanted));
  const versions = versionsOf(objects);
  expect(versions).toEqual(versions.toSorted((a, b) => a - b));
});
