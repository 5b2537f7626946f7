import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../src/testing/until.js';
import { type Served, serve } from '../apiserver/served.js';

let it: Served;
beforeAll(async () => {
  it = await serve({ controllers: ['crd-names', 'crd-established', 'crd-finalizer'] });
});
afterAll(() => it.stop());

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const versions = (served: boolean) => [
  { name: 'v1', served, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
];
const create = async (plural: string, kind: string): Promise<void> => {
  const names = { plural, kind };
  const spec = { group: 'example.com', names, scope: 'Namespaced', versions: versions(true) };
  await it.ask('POST', definitions, { body: { metadata: { name: `${plural}.example.com` }, spec } });
  const path = `/apis/example.com/v1/namespaces/default/${plural}`;
  await eventually(
    async () => (await it.ask('GET', path)).code,
    (code) => code === 200,
  );
  const body = { apiVersion: 'example.com/v1', kind, metadata: { name: 'x' } };
  expect((await it.ask('POST', path, { body })).code).toBe(201);
};
const goes = async (plural: string): Promise<void> => {
  const path = `${definitions}/${plural}.example.com`;
  await it.ask('DELETE', path);
  await eventually(
    async () => (await it.ask('GET', path)).code,
    (code) => code === 404,
  );
};

test('an unreachable webhook does not prevent the deletion of a definition', async () => {
  await create('as', 'A');
  const webhook = {
    name: 'a.example.com',
    clientConfig: { url: 'https://127.0.0.1:1/' },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    rules: [{ operations: ['DELETE'], apiGroups: ['example.com'], apiVersions: ['v1'], resources: ['*'] }],
  };
  const hooks = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
  await it.ask('POST', hooks, { body: { metadata: { name: 'a' }, webhooks: [webhook] } });
  const one = '/apis/example.com/v1/namespaces/default/as/x';
  await eventually(
    async () => (await it.ask('DELETE', `${one}?dryRun=All`)).code,
    (code) => code === 500,
  );
  await goes('as');
});

test('a definition is deleted with its instances when none of its versions is served', async () => {
  await create('bs', 'B');
  await it.ask('PATCH', `${definitions}/bs.example.com`, {
    body: { spec: { versions: versions(false) } },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  await goes('bs');
  await create('bs', 'B');
});
