import { readFile } from 'node:fs/promises';
import { CustomObjectsApi, KubeConfig } from '@kubernetes/client-node';
import { type CustomResourceDefinition, Namespaces } from 'kedge';
import { testServer, until } from 'kedge/testing';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { Teams } from '../custom-resource/team.ts';
import { teamController } from '../custom-resource/team-controller.ts';

const definition = new URL('../custom-resource/crd.yaml', import.meta.url);

test('a client that knows nothing of us makes a team, and the operator gives it a namespace', async () => {
  await using kit = await testServer({
    listen: { port: 0 },
    objects: [parse(await readFile(definition, 'utf8')) as CustomResourceDefinition],
    runnables: [teamController()],
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
