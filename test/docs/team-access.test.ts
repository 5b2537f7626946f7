import { Namespaces, RoleBindings } from 'kedge';
import { readManifests, testServer, until } from 'kedge/testing';
import { expect, test } from 'vitest';
import { teamAccess } from '../../examples/custom-controller/team-access.js';

test('a team may edit its namespace, and a deleted binding comes back', async () => {
  await using kit = await testServer({
    controllers: [],
    objects: await readManifests('examples/custom-controller/access.yaml'),
    runnables: [teamAccess],
    runAs: { namespace: 'kube-system', name: 'team-access' },
  });
  const { client } = kit;
  const labels = { 'example.com/team': 'red' };
  await client.resource(Namespaces).create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels } });
  const bindings = client.resource(RoleBindings);
  const key = { namespace: 'shop', name: 'team-edit' };

  const first = await until(bindings, key, (binding) => binding !== undefined);
  expect(first.subjects).toMatchObject([{ kind: 'Group', name: 'team:red' }]);

  await bindings.delete(key);
  await until(bindings, key, (binding) => binding !== undefined && binding.metadata.uid !== first.metadata.uid);
});
