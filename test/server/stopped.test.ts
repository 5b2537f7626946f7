import { expect, test } from 'vitest';
import { MemoryStore } from '../../src/store/memory/memory-store.js';
import { serve } from '../apiserver/served.js';
import { collectGarbage } from '../collect-garbage.js';

const json = 'application/json';
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const protobuf = 'application/vnd.kubernetes.protobuf';

/** Starts a server, requests one of everything that is cached, and stops it. */
async function used(): Promise<WeakRef<object>> {
  const store = new MemoryStore();
  const it = await serve({ store, controllers: 'all' });
  const { paths } = (await it.ask('GET', '/openapi/v3')).json();
  const documents = Object.values<{ readonly serverRelativeURL: string }>(paths);
  for (const { serverRelativeURL } of documents) await it.ask('GET', serverRelativeURL);
  for (const path of ['/openapi/v2', '/api', '/apis', '/version', '/metrics', '/readyz']) await it.ask('GET', path);
  const collection = '/api/v1/namespaces/default/configmaps';
  const metadata = { name: 'a', labels: Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`k${at}`, 'v'])) };
  await it.ask('POST', collection, { headers: { 'content-type': json }, body: { metadata } });
  for (const accept of [json, table, protobuf]) {
    for (const query of ['', '?labelSelector=a']) await it.ask('GET', collection + query, { headers: { accept } });
  }
  await it.ask('GET', `${collection}?watch=true`, { lines: 0 });
  await it.stop();
  return new WeakRef(store);
}

test('a stopped server leaves nothing in memory', async () => {
  const stores = [await used(), await used()];
  const areGone = (): readonly boolean[] => {
    collectGarbage();
    return stores.map((store) => store.deref() === undefined);
  };
  await expect.poll(areGone).toEqual([true, true]);
});
