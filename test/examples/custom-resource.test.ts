import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { type Team, Teams } from '../../examples/custom-resource/team.js';
import { teamController } from '../../examples/custom-resource/team-controller.js';
import { wanted } from '../../examples/custom-resource/wanted.js';
import { hasCondition } from '../../src/api/conditions.js';
import { CustomResourceDefinitions } from '../../src/api/kinds/custom-resource-definition.js';
import { Leases } from '../../src/api/kinds/lease.js';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import { RoleBindings } from '../../src/api/kinds/role-binding.js';
import { serviceAccountGroups, serviceAccountUsername, wellKnown } from '../../src/api/user.js';
import { whileLeading } from '../../src/controller/leader.js';
import { createManager } from '../../src/controller/manager.js';
import { createServer, type Server } from '../../src/embed.js';
import { until } from '../../src/testing/until.js';
import { applyAll } from './apply-all.js';

const team = (members: readonly string[]): Team => ({
  apiVersion: 'example.com/v1',
  kind: 'Team',
  metadata: { name: 'red' },
  spec: { members },
});

test('a team is to have a namespace and a binding for its members', () => {
  const { namespace, binding } = wanted({ ...team(['alice']), metadata: { name: 'red', uid: 'u' } });
  expect(namespace.metadata.name).toBe('team-red');
  expect(binding.subjects).toEqual([{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }]);
  expect(binding.metadata.ownerReferences).toMatchObject([{ kind: 'Team', name: 'red', uid: 'u' }]);
});

let server: Server;
const stop = new AbortController();
let running: Promise<void>;
beforeAll(async () => {
  server = await createServer();
  const admin = server.client();
  const read = (file: string) => readFile(new URL(`../../examples/custom-resource/${file}`, import.meta.url), 'utf8');
  for (const file of ['crd.yaml', 'rbac.yaml']) await applyAll(admin, parseAllDocuments(await read(file)));
  await until(
    admin.resource(CustomResourceDefinitions),
    { name: 'teams.example.com' },
    (crd) => crd !== undefined && hasCondition(crd, 'Established'),
  );
  const account = {
    username: serviceAccountUsername('teams', 'teams'),
    groups: [...serviceAccountGroups('teams'), wellKnown.authenticated],
  };
  running = createManager({ client: server.client(account) })
    .add(whileLeading({ lease: { namespace: 'teams', name: 'controller' }, identity: 'one' }, teamController()))
    .run(stop.signal);
});
afterAll(async () => {
  stop.abort();
  await running;
  await server.stop();
});

test('a team gets what it is to have, keeps it, and it goes with the team', async () => {
  const admin = server.client();
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
