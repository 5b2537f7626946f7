import { expect, test } from 'vitest';
import { hasCondition } from '../../src/api/conditions.js';
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
} from '../../src/api/kinds/custom-resource-definition.js';
import { createServer } from '../../src/embed.js';
import { MemoryStore } from '../../src/store/memory/memory-store.js';
import { until } from '../../src/testing/until.js';

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
} as unknown as CustomResourceDefinition;

test('a definition is deleted even if instances were left in another scope', async () => {
  const store = new MemoryStore();
  const server = await createServer({ store });
  try {
    const crds = server.client().resource(CustomResourceDefinitions);
    await crds.create(definition);
    await until(crds, definition.metadata as { name: string }, (one) => hasCondition(one, 'Established'));
    const metadata = { name: 'a', namespace: 'n', uid: 'u', finalizers: ['example.com/hold'] };
    const left = { apiVersion: 'example.com/v1', kind: 'Widget', metadata };
    const document = { bytes: Buffer.from(JSON.stringify(left)), revisionAt: -1 };
    await store.commit({ key: 'example.com/widgets/n/a', document, expect: 'absent' });
    await crds.delete({ name: 'widgets.example.com' });
    await until(crds, { name: 'widgets.example.com' }, (one) => one === undefined);
    expect((await store.scan('example.com/')).entries).toEqual([]);
  } finally {
    await server.stop();
  }
});
