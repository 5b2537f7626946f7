import { test } from 'vitest';
import { teamAccess } from '../../examples/custom-controller/team-access.js';
import { readManifests } from '../../src/testing/manifests.js';
import { testServer } from '../../src/testing/test-server.js';
import { teamComesAndGoes } from './team-comes-and-goes.js';

test('with least privilege, the controller lets a team edit while the label is there', async () => {
  await using kit = await testServer({
    controllers: [],
    objects: await readManifests('examples/custom-controller/access.yaml'),
    runnables: [teamAccess],
    runAs: { namespace: 'kube-system', name: 'team-access' },
  });
  await teamComesAndGoes(kit.client);
});
