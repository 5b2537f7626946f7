import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { CustomResourceDefinitions } from '../../src/api/kinds/custom-resource-definition.js';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import { ServiceAccounts } from '../../src/api/kinds/service-account.js';
import { resourceType } from '../../src/api/object.js';
import { connect, type RemoteClient } from '../../src/client/remote-client.js';
import { eventually, until } from '../../src/testing/until.js';
import { gadgetDefinition } from '../scenarios/manifests.js';
import { type Program, runKedge, type ServerProgram, startKedge, startServer, temporaryDirectory } from './program.js';

/** The built-in controllers as a separate program, with a server that runs none. */

const dataDir = temporaryDirectory();
let server: ServerProgram;
let controllers: Program;
let client: RemoteClient;

beforeAll(async () => {
  server = await startServer(dataDir, ['--controllers', '']);
  const ca = ['--ca-cert', join(dataDir, 'pki/ca.crt'), '--ca-key', join(dataDir, 'pki/ca.pem')];
  controllers = await startKedge(['controllers', '--kubeconfig', server.kubeconfig, '--log-format', 'json', ...ca]);
  client = await connect({ kubeconfig: server.kubeconfig });
});
afterAll(async () => {
  client.close();
  await Promise.all([controllers.stop(), server.stop()]);
});

test('the whole demo runs', async () => {
  const { code, stdout, stderr } = await runKedge(['demo', '--kubeconfig', server.kubeconfig]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.match(/^\d+\. .*/gm)).toHaveLength(5);
  expect(stdout).toMatch(/decision +Approved \(AutoApproved\)/);
  expect(stdout).toMatch(/decision +Denied \(NotKnown\)/);
  expect(stdout).toMatch(/trust +ClusterTrustBundle example\.com:ci:/);
  expect(stdout).toMatch(/server says +you are system:node:demo-/);
  expect(server.stdout).not.toContain('reconciled');
  expect(controllers.stdout).toContain('"controller":"csr-signer"');
});

test('namespaces get their account and root certificates, and are deleted with their contents', async () => {
  const namespaces = client.resource(Namespaces);
  await namespaces.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'served' } });
  const configMaps = client.resource(ConfigMaps);
  await until(client.resource(ServiceAccounts), { namespace: 'served', name: 'default' }, (account) => !!account);
  const published = { namespace: 'served', name: 'kube-root-ca.crt' };
  const map = await until(configMaps, published, (found) => found?.data?.['ca.crt'] !== undefined);
  expect(map?.data?.['ca.crt']).toBe(client.ca);
  await namespaces.delete({ name: 'served' });
  await until(namespaces, { name: 'served' }, (namespace) => namespace === undefined);
  expect((await configMaps.list({ namespace: 'served' })).items).toEqual([]);
});

test('custom resources are served and cleaned up', async () => {
  const crds = client.resource(CustomResourceDefinitions);
  const definition = JSON.parse(gadgetDefinition('elsewhere.example.com'));
  const { name } = definition.metadata;
  await crds.create(definition);
  await until(crds, { name }, (crd) => crd?.status?.conditions?.some(({ type }) => type === 'Established') === true);
  const gadgets = client.resource(
    resourceType({
      group: 'elsewhere.example.com',
      version: 'v1',
      plural: 'gadgets',
      kind: 'Gadget',
      namespaced: true,
    }),
  );
  const gadget = {
    apiVersion: 'elsewhere.example.com/v1',
    kind: 'Gadget',
    metadata: { namespace: 'default', name: 'g' },
    spec: { colour: 'red' },
  };
  const created = await eventually(
    () => gadgets.create(gadget).catch(() => undefined),
    (found) => found !== undefined,
  );
  expect(created).toMatchObject({ spec: { colour: 'red', size: 3 } });
  await crds.delete({ name });
  await until(crds, { name }, (crd) => crd === undefined);
});

test('selected controllers that have nothing to do are logged', async () => {
  // The CAs that verify the API server are published by the program that runs root-ca-publisher.
  const chosen = ['--controllers', 'csr-signer,trust-bundle-publisher,namespace,service-account-token,policy-status'];
  const json = ['--log-format', 'json'];
  const program = await startKedge(['controllers', '--kubeconfig', server.kubeconfig, ...chosen, ...json]);
  await eventually(
    async () => program.stdout,
    (text) => text.includes('"controllers":["namespace"]'),
  );
  expect(program.stdout).toContain(
    '"controllers":["csr-signer","trust-bundle-publisher"],"msg":"enabled, but not configured"',
  );
  expect(program.stdout).toContain(
    '"controllers":["service-account-token","policy-status"],"msg":"not run: these controllers work only inside the server"',
  );
  await program.stop();
});

test('the options file may name the CA for the well-known signers, and metrics show its expiry', async () => {
  const file = join(temporaryDirectory(), 'signing.yaml');
  const pair = { certificateFile: join(dataDir, 'pki/ca.crt'), keyFile: join(dataDir, 'pki/ca.pem') };
  writeFileSync(file, JSON.stringify({ signing: pair }));
  const chosen = ['--controllers', 'csr-signer', '--config', file, '--log-format', 'json'];
  const probes = ['--probe-address', '127.0.0.1:0'];
  const program = await startKedge(['controllers', '--kubeconfig', server.kubeconfig, ...chosen, ...probes]);
  await program.logged(({ msg, controllers: names }) => msg === 'running' && `${names}` === 'csr-signer', 'csr-signer');
  const { port } = await program.logged(({ msg }) => msg === 'serving probes', 'probes');
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const signer = '{signer="kubernetes.io/kube-apiserver-client"}';
  expect(metrics).toContain(`kedge_signer_requests_waiting${signer} 0\n`);
  expect(metrics).toMatch(new RegExp(`kedge_ca_expiration_timestamp_seconds${signer} \\d{10}\n`));
  await program.stop();
});

test('metrics show the expiry and waiting requests of a CA that signs only for pods', async () => {
  const file = join(temporaryDirectory(), 'signing.yaml');
  const pair = { certificateFile: join(dataDir, 'pki/ca.crt'), keyFile: join(dataDir, 'pki/ca.pem') };
  const pods = { name: 'example.test/pods', ...pair, podCertificates: { trustDomain: 'example.test' } };
  writeFileSync(file, JSON.stringify({ signing: { signers: [pods] } }));
  const chosen = ['--controllers', 'pod-certificate-signer', '--config', file, '--log-format', 'json'];
  const probes = ['--probe-address', '127.0.0.1:0'];
  const program = await startKedge(['controllers', '--kubeconfig', server.kubeconfig, ...chosen, ...probes]);
  const { port } = await program.logged(({ msg }) => msg === 'serving probes', 'probes');
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(metrics).toMatch(/kedge_ca_expiration_timestamp_seconds{signer="example.test\/pods"} \d{10}\n/);
  expect(metrics).toContain('kedge_signer_requests_waiting{signer="example.test/pods"} 0\n');
  await program.stop();
});

test('SIGTERM stops the program with exit code 0', async () => {
  expect(await controllers.stop()).toMatchObject({ code: 0, stderr: '' });
});

test('one of two programs with a Lease works, and the other after the first has stopped', async () => {
  const flags = ['--controllers', 'root-ca-publisher', '--lease', 'kube-system/elsewhere', '--log-format', 'json'];
  const candidate = () =>
    startKedge(['controllers', '--kubeconfig', server.kubeconfig, ...flags, '--probe-address', '127.0.0.1:0']);
  const first = await candidate();
  await first.logged(({ msg }) => msg === 'became leader', 'leader');
  const second = await candidate();
  await second.logged(({ msg }) => msg === 'another process is the leader', 'candidate');
  for (const program of [first, second]) {
    const { port } = await program.logged(({ msg }) => msg === 'serving probes', 'probes');
    await eventually(
      async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).text(),
      (text) => text === 'ok',
    );
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(metrics).toContain('process_cpu_seconds_total');
    expect(metrics.includes('workqueue_depth{controller="root-ca-publisher"')).toBe(program === first);
  }
  expect(await first.stop()).toMatchObject({ code: 0 });
  await second.logged(({ msg }) => msg === 'became leader', 'leader');
  expect(await second.stop()).toMatchObject({ code: 0 });
});
