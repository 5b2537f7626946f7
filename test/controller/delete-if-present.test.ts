import { expect, test } from 'vitest';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { deleteIfPresent } from '../../src/controller/delete-if-present.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { FakeClient } from '../fake-client.js';

const key = { namespace: 'n', name: 'a' };
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key };

test('the object that was read is deleted, but no other of its name', async () => {
  const client = new FakeClient(new FakeClock());
  const maps = client.resource(ConfigMaps);
  const read = await maps.create(configMap);
  const written = await maps.update({ ...read, data: { a: '1' } });
  await expect(deleteIfPresent(client, ConfigMaps, read, { unchanged: true })).rejects.toMatchObject({
    reason: 'Conflict',
  });
  expect(await deleteIfPresent(client, ConfigMaps, read)).toBe(true);
  expect(await deleteIfPresent(client, ConfigMaps, written)).toBe(false);
  await maps.create(configMap);
  await expect(deleteIfPresent(client, ConfigMaps, read)).rejects.toMatchObject({ reason: 'Conflict' });
  expect(await maps.get(key)).toBeDefined();
});
