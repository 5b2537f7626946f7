import { afterEach, beforeEach, expect, test } from 'vitest';
import { hasCondition } from '../../src/api/conditions.js';
import { isReason } from '../../src/api/errors.js';
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
} from '../../src/api/kinds/custom-resource-definition.js';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import { type ApiObject, type ResourceType, resourceType } from '../../src/api/object.js';
import { createServer, type Server } from '../../src/embed.js';
import { MemoryStore } from '../../src/store/memory/memory-store.js';
import type { Store } from '../../src/store/store.js';
import { until } from '../../src/testing/until.js';

/** Returns the store of one of two servers with a shared store, in which the commit of a key can be delayed. */
function through(base: Store, held: { key?: string; until?: Promise<void>; reached?: () => void } = {}): Store {
  return {
    get: (key) => base.get(key),
    scan: (prefix, options) => base.scan(prefix, options),
    changes: (prefix, after) => base.changes(prefix, after),
    revision: () => base.revision(),
    close: async () => {},
    async commit(write) {
      if (write.key === held.key && write.document !== undefined) {
        held.reached?.();
        await held.until;
      }
      return base.commit(write);
    },
  };
}

let base: MemoryStore;
let first: Server;
let second: Server;
let held: { key?: string; until?: Promise<void>; reached?: () => void };
beforeEach(async () => {
  base = new MemoryStore();
  held = {};
  first = await createServer({ store: through(base) });
  second = await createServer({ store: through(base, held), controllers: [] });
});
afterEach(async () => {
  await Promise.all([first.stop(), second.stop()]);
  await base.close();
});

/**
 * The second server is about to store an object when the first one deletes its namespace or definition; the commit
 * waits until that is gone.
 */
async function tooLate<T extends ApiObject>(key: string, type: ResourceType<T>, object: T, end: () => Promise<void>) {
  let go = (): void => {};
  held.until = new Promise((resolve) => {
    go = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    held.reached = resolve;
  });
  held.key = key;
  const made = second
    .client()
    .resource(type)
    .create(object)
    .catch((error: unknown) => error);
  await reached;
  await end();
  go();
  expect(isReason(await made, 'NotFound')).toBe(true);
  expect(await base.get(key)).toBeUndefined();
}

test('no object stays in a namespace that was deleted while another server was creating it', async () => {
  const namespaces = first.client().resource(Namespaces);
  await namespaces.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } });
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'n' } };
  await tooLate<ApiObject>('core/secrets/n/s', Secrets, secret, async () => {
    await namespaces.delete({ name: 'n' });
    await until(namespaces, { name: 'n' }, (one) => one === undefined);
  });
});

test('no instance stays of a definition that was deleted while another server was creating it', async () => {
  const crds = first.client().resource(CustomResourceDefinitions);
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }];
  const names = { plural: 'widgets', kind: 'Widget' };
  const name = { name: 'widgets.example.com' };
  await crds.create({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: name,
    spec: { group: 'example.com', scope: 'Cluster', names, versions },
  } as unknown as CustomResourceDefinition);
  await until(crds, name, (one) => hasCondition(one, 'Established'));
  const type = resourceType<ApiObject>({ group: 'example.com', version: 'v1', ...names, namespaced: false });
  const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } };
  await tooLate('example.com/widgets/w', type, widget, async () => {
    await crds.delete(name);
    await until(crds, name, (one) => one === undefined);
  });
});
