import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  CertificateSigningRequests,
  certificatePem,
  isIssued,
} from '../../src/api/kinds/certificate-signing-request.js';
import { type ClusterTrustBundle, ClusterTrustBundles } from '../../src/api/kinds/cluster-trust-bundle.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import type { Client } from '../../src/client/client.js';
import { domainClient } from '../../src/client/domain-client.js';
import { connect, type RemoteClient } from '../../src/client/remote-client.js';
import { readPemCertificates } from '../../src/pki/certificate.js';
import { testSigningRequest } from '../../src/testing/certificates.js';
import { eventually, until } from '../../src/testing/until.js';
import { type Program, runKedge, type ServerProgram, startKedge, startServer, temporaryDirectory } from './program.js';

/**
 * `kedge ca` and `kedge certificates` with a server under other domains, whose controllers are a separate program with
 * the same file.
 */

const dataDir = temporaryDirectory();
const config = join(dataDir, 'kedge.yaml');
const domains = { api: 'api.example', signer: 'signer.example', extensions: [] };
const signerName = 'signer.example/kube-apiserver-client-kubelet';
const secret = { namespace: 'pki', name: 'node-ca' };
let server: ServerProgram;
let controllers: Program;
let remote: RemoteClient;
let client: Client;

beforeAll(async () => {
  writeFileSync(
    config,
    `domains: { api: ${domains.api}, signer: ${domains.signer} }
signing:
  signers:
    - name: ${signerName}
      secret: pki/node-ca
      rotation: { propagationSeconds: 0 }
`,
  );
  server = await startServer(dataDir, ['--store', 'memory:', '--controllers', '', '--config', config]);
  remote = await connect({ kubeconfig: server.kubeconfig });
  client = domainClient(domains, remote);
  controllers = await startControllers();
});
afterAll(async () => {
  remote.close();
  await Promise.all([controllers.stop(), server.stop()]);
});

const startControllers = (): Promise<Program> =>
  startKedge(['controllers', '--kubeconfig', server.kubeconfig, '--config', config, '--log-format', 'json']);
/** Restarts the controllers as after a crash. They check everything immediately, instead of once a minute. */
async function restartControllers(): Promise<void> {
  controllers.kill('SIGKILL');
  await controllers.ended;
  controllers = await startControllers();
}
const kedgeCa = (...args: readonly string[]) => runKedge(['ca', ...args, '--kubeconfig', server.kubeconfig]);

async function issuerOf(name: string): Promise<string | undefined> {
  const requests = client.resource(CertificateSigningRequests);
  const [commonName, organizations] = ['system:node:n', ['system:nodes']];
  await requests.create(await testSigningRequest({ name, signerName, commonName, organizations }));
  const csr = await until(requests, { name }, (found) => found !== undefined && isIssued(found));
  return readPemCertificates((csr && certificatePem(csr)) ?? '')[0]?.issuer.commonName;
}

test('the CA is created, signs, and its status is shown', async () => {
  expect(await issuerOf('first')).toBe('node-ca 1');
  const { code, stdout } = await kedgeCa('status');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^SECRET +SIGNERS +PHASE +CA +ENDS +ANCHORS +NEXT STEP\n/);
  expect(stdout).toMatch(/^pki\/node-ca +signer\.example\/.* +steady +node-ca 1 +in 9y +1 +-$/m);
});

test('issued certificates are listed after their request is deleted, and tampering with the ledger is detected', async () => {
  await client.resource(CertificateSigningRequests).delete({ name: 'first' });
  const kedge = (...args: readonly string[]) => runKedge(['certificates', ...args, '--kubeconfig', server.kubeconfig]);
  const { stdout } = await kedge('--signer', signerName);
  expect(stdout).toMatch(/^EXPIRES +SIGNER +SUBJECT +NAMES +REQUESTER +APPROVAL +SERIAL\n/);
  expect(stdout).toMatch(
    /^in 36\dd +signer\.example\/\S+ +O=system:nodes,CN=system:node:n +- +kubernetes-admin +AutoApproved +/m,
  );
  const verified = await kedge('--verify');
  expect(verified.stdout).toMatch(
    /^entries: 1, certificates: 1; nothing was changed or removed\nend: 1:[0-9a-f]{64}\n$/,
  );
  expect(await kedge('--verify', '--noted', `2:${'0'.repeat(64)}`)).toMatchObject({
    code: 1,
    stderr:
      'the ledger ends before entry 2, which was noted\n' +
      'kedge: entries of the ledger were changed or removed (problems: 1)\n',
  });
  expect(await kedge('--verify', '--noted', 'empty')).toMatchObject({ code: 0 });
});

describe('a rotation is refused', () => {
  test.each([
    ['of a missing Secret', 'pki/x', 'no Secret pki/x'],
    ['of a Secret without a CA', 'pki/other', 'the Secret pki/other contains no CA that is managed by rotation'],
  ])('%s', async (_, name, message) => {
    if (name === 'pki/other') {
      const metadata = { namespace: 'pki', name: 'other' };
      await client.resource(Secrets).create({ apiVersion: 'v1', kind: 'Secret', metadata });
    }
    expect(await kedgeCa('rotate', name)).toMatchObject({ code: 1, stdout: '', stderr: `kedge: ${message}\n` });
  });
});

test('a rotation is requested, refused while in progress, and completed over two crashes', async () => {
  const secrets = client.resource(Secrets);
  const bundles = client.resource(ClusterTrustBundles);
  const made = await until(secrets, secret, (found) => found?.data?.['tls.crt'] !== undefined);
  const anchor = Buffer.from(made?.data?.['tls.crt'] ?? '', 'base64').toString();
  const published = async (): Promise<readonly ClusterTrustBundle[]> =>
    (await bundles.list()).items.filter(({ spec }) => spec.trustBundle?.includes(anchor));
  // There is one for each form of the signer name.
  await eventually(published, ({ length }) => length === 2);
  expect(await kedgeCa('rotate', 'pki/node-ca')).toMatchObject({
    code: 0,
    stdout: 'A rotation of the CA in pki/node-ca was requested. See kedge ca status.\n',
    stderr: '',
  });
  await until(secrets, secret, (found) => found?.data?.['next.crt'] !== undefined);
  expect(await kedgeCa('rotate', 'pki/node-ca')).toMatchObject({
    code: 1,
    stderr: 'kedge: a rotation is in progress (announced); it continues by itself\n',
  });
  expect(await issuerOf('second')).toBe('node-ca 1');

  await restartControllers();
  // Superseded bundles are kept for an hour, and count until they are deleted.
  const isOld = ({ spec }: ClusterTrustBundle): boolean => readPemCertificates(spec.trustBundle ?? '').length === 1;
  const both = await eventually(published, ({ length }) => length === 4);
  for (const { metadata } of both.filter(isOld)) await bundles.delete({ name: metadata.name ?? '' });
  await restartControllers();
  await controllers.logged(({ action }) => action === 'switch', 'the switch');
  expect((await kedgeCa('status')).stdout).toMatch(/ retiring +node-ca 2 +in 9y +2 +the old anchor goes in 3\d\dd/);
  expect(
    await eventually(
      () => issuerOf(`later-${Date.now()}`),
      (issuer) => issuer === 'node-ca 2',
    ),
  ).toBeDefined();
});
