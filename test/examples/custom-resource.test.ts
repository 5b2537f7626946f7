import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Team, Teams } from '../../examples/custom-resource/team.js';
import { teamController } from '../../examples/custom-resource/team-controller.js';
import { wanted } from '../../examples/custom-resource/wanted.js';
import { Leases } from '../../src/api/kinds/lease.js';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import { RoleBindings } from '../../src/api/kinds/role-binding.js';
import { whileLeading } from '../../src/controller/leader.js';
import { readManifests } from '../../src/testing/manifests.js';
import { type TestServer, testServer } from '../../src/testing/test-server.js';
import { until } from '../../src/testing/until.js';

const team = (members: readonly string[]): Team => ({
  apiVersion: 'example.com/v1',
  kind: 'Team',
  metadata: { name: 'red' },
  spec: { members },
});

test("a team's desired state is a namespace and a binding for its members", () => {
  const { namespace, binding } = wanted({ ...team(['alice']), metadata: { name: 'red', uid: 'u' } });
  expect(namespace.metadata.name).toBe('team-red');
  expect(binding.subjects).toEqual([{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }]);
  expect(binding.metadata.ownerReferences).toMatchObject([{ kind: 'Team', name: 'red', uid: 'u' }]);
});

let kit: TestServer;
beforeAll(async () => {
  const files = ['crd.yaml', 'rbac.yaml'].map((file) => `examples/custom-resource/${file}`);
  kit = await testServer({
    objects: await readManifests(...files),
    runnables: [whileLeading({ lease: { namespace: 'teams', name: 'controller' }, identity: 'one' }, teamController())],
    runAs: { namespace: 'teams', name: 'teams' },
  });
});
afterAll(() => kit.stop());

test('a team gets its namespace and binding, keeps them, and they are deleted with the team', async () => {
  const { client: admin } = kit;
  const teams = admin.resource(Teams);
  const binding = { namespace: 'team-red', name: 'members' };
  const bindings = admin.resource(RoleBindings);
  await teams.create(team(['alice']));
  await until(teams, { name: 'red' }, (object) => object?.status?.members === 1);
  await teams.patch({ name: 'red' }, { type: 'merge', body: { spec: { members: ['alice', 'bob'] } } });
  await until(bindings, binding, (object) => object?.subjects?.length === 2);
  await bindings.patch(binding, { type: 'merge', body: { subjects: null } });
  await until(bindings, binding, (object) => object?.subjects?.length === 2);
  expect((await admin.resource(Leases).get({ namespace: 'teams', name: 'controller' }))?.spec?.holderIdentity).toBe(
    'one',
  );
  await teams.delete({ name: 'red' });
  await until(admin.resource(Namespaces), { name: 'team-red' }, (object) => object === undefined);
});
