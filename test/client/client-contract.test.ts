import { afterAll, beforeAll, test } from 'vitest';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import { httpClient } from '../../src/client/http-client.js';
import { accessFromText } from '../../src/client/kubeconfig.js';
import { createServer, type Server } from '../../src/embed.js';
import { systemClock } from '../../src/runtime/clock.js';
import { clientContract } from '../../src/testing/client-contract.js';

let server: Server;
let count = 0;
beforeAll(async () => {
  server = await createServer({ listen: { host: '127.0.0.1', port: 0 }, controllers: [] });
});
afterAll(() => server.stop());

async function newNamespace(): Promise<string> {
  const name = `contract-${++count}`;
  await server.client().resource(Namespaces).create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  return name;
}

test.concurrent.each(clientContract(async () => ({ client: server.client(), namespace: await newNamespace() })))(
  'in process: $name',
  ({ run }) => run(),
);

test.concurrent.each(
  clientContract(async () => {
    const client = httpClient(await accessFromText(server.adminKubeconfig, { clock: systemClock, env: {} }));
    return { client, namespace: await newNamespace(), close: () => client.close() };
  }),
)('over HTTP: $name', ({ run }) => run());
