import { afterEach, test, vi } from 'vitest';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { testServer } from '../../src/testing/test-server.js';

const many = async (server: Awaited<ReturnType<typeof testServer>>): Promise<void> => {
  const maps = server.client.resource(ConfigMaps);
  const metadata = (at: number) => ({ name: `m${at}`, namespace: 'default' });
  await Promise.all(
    Array.from({ length: 60 }, (_, at) =>
      maps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata(at), data: { text: 'x'.repeat(20_000) } }),
    ),
  );
};

afterEach(() => void vi.useRealTimers());

test('fake timers of a test hold up neither its server nor a later one', async () => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'setInterval', 'setImmediate', 'performance', 'Date'],
  });
  const first = await testServer();
  await many(first);
  vi.useRealTimers();
  await first.stop();
  const second = await testServer();
  await many(second);
  await second.stop();
});
