import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { Teams } from '../../examples/custom-resource/team.js';
import { runTeamWebhooks } from '../../examples/webhook-certificates/run.js';
import { withServingCertificate } from '../../examples/webhook-certificates/serving-certificate.js';
import { TeamsV1alpha1 } from '../../examples/webhooks/team-conversion.js';
import { CertificateSigningRequests } from '../../src/api/kinds/certificate-signing-request.js';
import { CustomResourceDefinitions } from '../../src/api/kinds/custom-resource-definition.js';
import { ValidatingWebhookConfigurations } from '../../src/api/kinds/webhook-configuration.js';
import { serviceAccountGroups, serviceAccountUsername, wellKnown } from '../../src/api/user.js';
import { certificatesOptions } from '../../src/cli/certificates-options.js';
import { readConfiguration } from '../../src/cli/configuration.js';
import { createServer, type Server } from '../../src/embed.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { eventually, until } from '../../src/testing/until.js';
import { runControllers } from '../controllers/run-controllers.js';
import { freePort } from '../free-port.js';
import { applyAll } from './apply-all.js';

const examples = new URL('../../examples/', import.meta.url).pathname;
const clock = new FakeClock(Date.now());
const stop = new AbortController();
let server: Server;
let port: number;
let directory: string;
let running: Promise<void>;

beforeAll(async () => {
  port = await freePort();
  directory = await mkdtemp(join(tmpdir(), 'kedge-example-'));
  const configuration = await readConfiguration(join(examples, 'webhook-certificates/server.yaml'), {});
  server = await createServer({
    certificates: certificatesOptions(configuration),
    webhookServices: { 'teams/webhooks': `127.0.0.1:${port}` },
  });
  const admin = server.client();
  for (const file of ['webhook-certificates/access.yaml', 'webhooks/crd.yaml', 'webhooks/webhooks.yaml'])
    await applyAll(admin, parseAllDocuments(await readFile(join(examples, file), 'utf8')));
  const account = {
    username: serviceAccountUsername('teams', 'webhooks'),
    groups: [...serviceAccountGroups('teams'), wellKnown.authenticated],
  };
  running = runTeamWebhooks({ client: server.client(account), directory, port, signal: stop.signal, clock });
  await until(
    admin.resource(CustomResourceDefinitions),
    { name: 'teams.example.com' },
    (crd) => crd?.spec.conversion?.webhook?.clientConfig?.caBundle !== undefined,
  );
  await until(
    admin.resource(ValidatingWebhookConfigurations),
    { name: 'teams' },
    (found) => found?.webhooks?.[0]?.clientConfig.caBundle !== undefined,
  );
});
afterAll(async () => {
  stop.abort();
  await running;
  await server.stop();
  await rm(directory, { recursive: true });
});

const served = (): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()?.serialNumber ?? '');
      socket.destroy();
    });
    socket.on('error', reject);
  });

test('with least privilege, the program is called with a certificate of the server, and then a renewed one', async () => {
  const dora = server.client({ username: 'dora', groups: [wellKnown.masters, wellKnown.authenticated] });
  const create = (name: string) =>
    dora.resource(Teams).create({ apiVersion: 'example.com/v1', kind: 'Team', metadata: { name } });
  const first = await eventually(
    () => served().catch(() => ''),
    (serial) => serial !== '',
  );
  expect((await create('red')).spec).toEqual({ members: ['dora'] });
  expect((await dora.resource(TeamsV1alpha1).get({ name: 'red' }))?.spec).toEqual({ lead: 'dora', others: [] });

  // Two thirds of a day.
  await clock.jump(16 * 3_600_000);
  const second = await eventually(
    async () => {
      await clock.advance(1_000);
      return served();
    },
    (serial) => serial !== first,
  );
  expect(second).not.toBe(first);
  expect((await create('blue')).spec).toEqual({ members: ['dora'] });
});

test('a denied request is replaced by another, and nothing is served without a certificate', async () => {
  const wanted = { signerName: 'example.com/x', dnsNames: ['x.test'], expirationSeconds: 600, directory };
  const server = { name: 'server', run: () => Promise.reject(new Error('there are no files')) };
  const world = await runControllers([withServingCertificate(wanted, () => server)]);
  const requests = world.client.resource(CertificateSigningRequests);
  const asked = (times: number) =>
    eventually(
      async () => (await requests.list()).items,
      ({ length }) => length === times,
    );
  const [first] = await asked(1);
  if (first === undefined) throw new Error('nothing was asked for');
  const denied = { type: 'Denied', status: 'True', reason: 'Test', message: 'not for you' };
  await requests.subresource('approval').update({ ...first, status: { conditions: [denied] } });
  await eventually(
    () => world.complaints.join(),
    (text) => text.includes('came to nothing: not for you'),
  );
  await world.clock.advance(1_000);
  await asked(2);
  await world.stop();
});
