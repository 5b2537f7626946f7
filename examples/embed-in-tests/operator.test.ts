import { CustomObjectsApi, KubeConfig } from '@kubernetes/client-node';
import { Namespaces } from 'kedge';
import { readManifests, testServer, until } from 'kedge/testing';
import { expect, test } from 'vitest';
import { Teams } from '../custom-resource/team.ts';
import { teamController } from '../custom-resource/team-controller.ts';

const manifest = (name: string): URL => new URL(`../custom-resource/${name}`, import.meta.url);

test('a client that knows nothing of us makes a team, and the operator gives it a namespace', async () => {
  await using kit = await testServer({
    listen: { port: 0 },
    objects: await readManifests(manifest('crd.yaml'), manifest('rbac.yaml')),
    runnables: [teamController()],
    runAs: { namespace: 'teams', name: 'teams' },
  });
  const { client, server } = kit;
  const config = new KubeConfig();
  config.loadFromString(server.adminKubeconfig);
  await config.makeApiClient(CustomObjectsApi).createClusterCustomObject({
    group: 'example.com',
    version: 'v1',
    plural: 'teams',
    body: { apiVersion: 'example.com/v1', kind: 'Team', metadata: { name: 'red' }, spec: { members: ['dora'] } },
  });

  const team = await until(client.resource(Teams), { name: 'red' }, (each) => each?.status !== undefined);
  expect(team?.status).toMatchObject({ members: 1 });
  expect(await client.resource(Namespaces).get({ name: team?.status?.namespace ?? '' })).toBeDefined();
});

test('the operator sees what happens after its watches were cut off, and after the history is gone', async () => {
  await using kit = await testServer({
    objects: await readManifests(manifest('crd.yaml'), manifest('rbac.yaml')),
    runnables: [teamController()],
    runAs: { namespace: 'teams', name: 'teams' },
  });
  const teams = kit.client.resource(Teams);
  const team = (name: string) => ({ apiVersion: 'example.com/v1', kind: 'Team', metadata: { name } });
  const isDone = (name: string) => until(teams, { name }, (each) => each?.status !== undefined);
  await teams.create(team('red'));
  await isDone('red');
  kit.endWatches();
  await teams.create(team('blue'));
  await isDone('blue');
  await kit.compact();
  await teams.create(team('green'));
  await isDone('green');
});
