import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../src/testing/until.js';
import { type Served, serve } from '../apiserver/served.js';

let it: Served;
beforeAll(async () => {
  it = await serve({ controllers: ['crd-names', 'crd-established', 'garbage-collector'] });
});
afterAll(() => it.stop());

const version = (name: string, served: boolean, storage: boolean) => ({
  name,
  served,
  storage,
  schema: { openAPIV3Schema: { type: 'object' } },
});
const configMaps = '/api/v1/namespaces/default/configmaps';
const owners = (served: string): string => `/apis/example.com/${served}/namespaces/default/owners`;
const answers = async (path: string, wanted: number): Promise<unknown> =>
  eventually(
    async () => (await it.ask('GET', path)).code,
    (code) => code === wanted,
  );

/** Creates an owner and its dependents. */
async function family(served: string, name: string): Promise<void> {
  const apiVersion = `example.com/${served}`;
  const owner = await it.ask('POST', owners(served), { body: { apiVersion, kind: 'Owner', metadata: { name } } });
  expect(owner.code).toBe(201);
  const reference = { apiVersion, kind: 'Owner', name, uid: owner.json().metadata.uid };
  await it.ask('POST', configMaps, { body: { metadata: { name, ownerReferences: [reference] } } });
}

test('owners are followed when their definition changes its served version', async () => {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const names = { plural: 'owners', kind: 'Owner' };
  const spec = { group: 'example.com', names, scope: 'Namespaced', versions: [version('v1', true, true)] };
  await it.ask('POST', definitions, { body: { metadata: { name: 'owners.example.com' }, spec } });
  await answers(owners('v1'), 200);
  await family('v1', 'a');
  await it.ask('DELETE', `${owners('v1')}/a`);
  await answers(`${configMaps}/a`, 404);
  await it.ask('PATCH', `${definitions}/owners.example.com`, {
    body: { spec: { versions: [version('v1', false, false), version('v2', true, true)] } },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  await answers(owners('v2'), 200);
  await family('v2', 'b');
  await it.ask('DELETE', `${owners('v2')}/b`);
  await answers(`${configMaps}/b`, 404);
});
