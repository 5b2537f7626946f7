import { expect, test } from 'vitest';
import {
  bundlesLacking,
  formatSearchScope,
  parseSearchScope,
  type SearchScope,
} from '../../controllers/ca-rotation/bundles.js';
import { ClusterTrustBundles } from '../../src/api/kinds/cluster-trust-bundle.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import { bundleName } from '../../src/controller/bundle-name.js';
import { encodePem } from '../../src/pki/pem.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { FakeClient } from '../fake-client.js';

const anchor = (name: string): string => encodePem('CERTIFICATE', Buffer.from(name));
const [old, next] = [anchor('old'), anchor('next')];
const where: SearchScope = {
  signers: ['a.test/x', 'a.test/y'],
  distributed: ['corp'],
  owner: 'kedge',
  inSecrets: true,
};
const labels = { 'kedge.internal/trust-owner': 'kedge', 'kedge.internal/trust-bundle': 'corp' };

async function world(bundles: readonly (readonly [name: string, signerName: string, trustBundle: string])[]) {
  const client = new FakeClient(new FakeClock());
  for (const [name, signerName, trustBundle] of bundles) {
    const isFree = signerName === '';
    await client.resource(ClusterTrustBundles).create({
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'ClusterTrustBundle',
      metadata: { name, ...(isFree ? { labels } : {}) },
      spec: { trustBundle, ...(isFree ? {} : { signerName }) },
    });
  }
  return client;
}
const ofBoth = [
  [bundleName('a.test/x', old), 'a.test/x', old],
  [bundleName('a.test/x', old + next), 'a.test/x', old + next],
  ['a.test:y:1', 'a.test/y', next],
] as const;
const texts = async (client: FakeClient, places = where): Promise<readonly string[]> =>
  (await bundlesLacking(client, places, next)).map(({ text }) => text);

test('one current bundle per signer suffices beside those that the publisher has replaced', async () => {
  expect(await texts(await world(ofBoth))).toEqual([]);
});

test('a bundle with another name is waited for, as somebody may use it alone', async () => {
  const client = await world([...ofBoth, ['a.test:x:of-people', 'a.test/x', old]]);
  expect(await texts(client)).toEqual(['ClusterTrustBundle a.test:x:of-people']);
});

test('everything that lacks the anchor is named, cluster-scoped objects first', async () => {
  const client = await world([ofBoth[0], ofBoth[2], ['free', '', old]]);
  const copy = (name: string, more = {}) => ({ metadata: { namespace: 'ns', name, labels: { ...labels, ...more } } });
  const map = (name: string, text: string, more = {}) =>
    client
      .resource(ConfigMaps)
      .create({ apiVersion: 'v1', kind: 'ConfigMap', data: { 'ca.crt': text }, ...copy(name, more) });
  await map('behind', old);
  await map('done', old + next);
  await map('of-others', old, { 'kedge.internal/trust-owner': 'others' });
  const data = { 'ca.crt': Buffer.from(old).toString('base64') };
  await client.resource(Secrets).create({ apiVersion: 'v1', kind: 'Secret', data, ...copy('behind') });
  const ofServer = ['a ClusterTrustBundle of a.test/x', 'ClusterTrustBundle free'];
  expect(await texts(client)).toEqual([...ofServer, 'ConfigMap ns/behind', 'Secret ns/behind']);
  expect(await texts(client, { ...where, inSecrets: false })).toEqual([...ofServer, 'ConfigMap ns/behind']);
  expect(await texts(client, { ...where, distributed: [] })).toEqual(ofServer.slice(0, 1));
});

test.each<[string, Readonly<Record<string, string>>, Partial<SearchScope>]>([
  ['as it was written', { 'kedge.internal/bundles': formatSearchScope(where) }, {}],
  ['no annotation', {}, { distributed: [], inSecrets: false }],
  ['an annotation that is not JSON', { 'kedge.internal/bundles': '{' }, { distributed: [], inSecrets: false }],
  [
    'an annotation of another shape',
    { 'kedge.internal/bundles': '{"distributed":"corp"}' },
    { distributed: [], inSecrets: false },
  ],
])('the search scope is read from a Secret: %s', (_, annotations, more) => {
  const found = parseSearchScope({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { annotations: { 'kedge.internal/signers': where.signers.join(), ...annotations } },
  });
  expect(found).toEqual({ ...where, ...more });
});
