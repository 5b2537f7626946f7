import { test } from 'vitest';
import { teamAccess } from '../../examples/custom-controller/team-access.js';
import { readManifests } from '../../src/testing/manifests.js';
import { testServer } from '../../src/testing/test-server.js';
import { teamComesAndGoes } from './team-comes-and-goes.js';

test('with its least rights, the controller lets a team edit for as long as the label is there', async () => {
  await using kit = await testServer({
    controllers: [],
    objects: await readManifests('examples/custom-controller/access.yaml'),
    runnables: [teamAccess],
    runAs: { namespace: 'kube-system', name: 'team-access' },
  });
  await teamComesAndGoes(kit.client);
});
