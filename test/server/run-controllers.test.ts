import { expect, test } from 'vitest';
import { clientInstances } from '../../controllers/crd-finalizer/instances.js';
import { defaultDomains } from '../../src/api/domains.js';
import type { TokenIssuer } from '../../src/auth/token-issuer.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { controllersToRun } from '../../src/server/run-controllers.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { FakeClient } from '../fake-client.js';

test.each([
  ['no controllers', []],
  ['only controllers that have nothing to do', ['trust-distributor']],
])('a server with %s leaves the lease to others', async (_, names) => {
  const clock = new FakeClock();
  const client = new FakeClient(clock);
  const over = new AbortController();
  client.fail = () => {
    over.abort();
    return undefined;
  };
  const run = controllersToRun({
    names,
    clientOf: () => client,
    takesTurns: true,
    leaderClient: client,
    signers: [],
    certificates: {},
    rootCa: () => '',
    issuer: {} as TokenIssuer,
    customResources: clientInstances(client),
    checkPolicy: async () => [],
    domains: defaultDomains,
    clock,
    log: silentLogger,
    signal: over.signal,
  });
  await run();
  expect(client.calls).toEqual([]);
});
