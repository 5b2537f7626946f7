import { readFile } from 'node:fs/promises';
import { test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { teamAccess } from '../../examples/custom-controller/team-access.js';
import { serviceAccountGroups, serviceAccountUsername, wellKnown } from '../../src/api/user.js';
import { createManager } from '../../src/controller/manager.js';
import { createServer } from '../../src/embed.js';
import { applyAll } from './apply-all.js';
import { teamComesAndGoes } from './team-comes-and-goes.js';

test('with its least rights, the controller lets a team edit for as long as the label is there', async () => {
  const server = await createServer({ controllers: [] });
  const access = await readFile(new URL('../../examples/custom-controller/access.yaml', import.meta.url), 'utf8');
  await applyAll(server.client(), parseAllDocuments(access));
  const account = {
    username: serviceAccountUsername('kube-system', 'team-access'),
    groups: [...serviceAccountGroups('kube-system'), wellKnown.authenticated],
  };
  const stop = new AbortController();
  const running = createManager({ client: server.client(account) })
    .add(teamAccess)
    .run(stop.signal);
  await teamComesAndGoes(server.client());
  stop.abort();
  await running;
  await server.stop();
});
