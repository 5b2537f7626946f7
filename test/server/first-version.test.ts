import { lastValueFrom } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import { wellKnown } from '../../src/api/user.js';
import { createServer } from '../../src/embed.js';

import { etcdInstalled, startEtcd } from '../store/etcd/etcd-process.js';

if (!etcdInstalled) console.warn('There is no etcd on the PATH: the first version with etcd is not tested.');

/** How a watch from version 1 ends at the first start. */
async function fromTheFirst(store: string): Promise<unknown> {
  const server = await createServer({ store, controllers: [] });
  try {
    const client = server.client({ username: 'admin', groups: [wellKnown.masters, wellKnown.authenticated] });
    const watch = client.resource(Namespaces).watch({ resourceVersion: '1', timeoutSeconds: 1 });
    return await lastValueFrom(watch).then(
      (event) => event.type,
      (error: unknown) => error,
    );
  } finally {
    await server.stop();
  }
}

const expired = {
  reason: 'Expired',
  code: 410,
  message: expect.stringMatching(/^too old resource version: 1 \(\d+\)$/),
};

describe('a watch from before the first objects of a new server is told that it comes too late', () => {
  test('in memory', async () => {
    expect(await fromTheFirst('memory:')).toMatchObject(expired);
  });

  // An empty etcd is at revision 1 already, and others may have brought it further.
  test.skipIf(!etcdInstalled)(
    'in etcd',
    async () => {
      const etcd = await startEtcd();
      try {
        expect(await fromTheFirst(`etcd:${etcd.endpoint}`)).toMatchObject(expired);
      } finally {
        await etcd.stop();
      }
    },
    30_000,
  );
});
