import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import { wellKnown } from '../../src/api/user.js';
import { createServer } from '../../src/embed.js';
import { document } from '../../src/store/document.js';
import { openEtcdStore } from '../../src/store/etcd/open-etcd-store.js';
import type { Store } from '../../src/store/store.js';
import { etcdInstalled, startEtcd } from '../store/etcd/etcd-process.js';

if (!etcdInstalled) console.warn('There is no etcd on the PATH: the first version with etcd is not tested.');

/** Returns the first event of a watch from version 1. */
async function toldFirst(store: string | Store): Promise<unknown> {
  const server = await createServer({ store, controllers: [] });
  try {
    const client = server.client({ username: 'admin', groups: [wellKnown.masters, wellKnown.authenticated] });
    const watch = client.resource(Namespaces).watch({ resourceVersion: '1' });
    return await firstValueFrom(watch).catch((error: unknown) => error);
  } finally {
    await server.stop();
  }
}

const expired = {
  reason: 'Expired',
  code: 410,
  message: expect.stringMatching(/^too old resource version: 1 \(\d+\)$/),
};

describe('a watch from before the first objects of a new server is expired', () => {
  test('in memory', async () => {
    expect(await toldFirst('memory:')).toMatchObject(expired);
  });

  test('in LevelDB, and after a restart it gets what the history has', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'kedge-first-'));
    try {
      expect(await toldFirst(`level:${directory}`)).toMatchObject(expired);
      expect(await toldFirst(`level:${directory}`)).toMatchObject({ type: 'ADDED', object: { kind: 'Namespace' } });
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test.skipIf(!etcdInstalled)(
    'in etcd, whether empty at revision 1 or shared with others',
    async () => {
      const etcd = await startEtcd();
      try {
        expect(await toldFirst(`etcd:${etcd.endpoint}`)).toMatchObject(expired);
        const others = await openEtcdStore({ endpoints: [etcd.endpoint], prefix: '/others' });
        await others.commit({ key: '/theirs', document: document('{}'), expect: 'absent' });
        await others.close();
        const ours = await openEtcdStore({ endpoints: [etcd.endpoint], prefix: '/ours' });
        expect(await toldFirst(ours)).toMatchObject(expired);
      } finally {
        await etcd.stop();
      }
    },
    30_000,
  );
});
