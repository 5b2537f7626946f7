import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { runControllers } from '../../examples/real-cluster/controllers.js';
import {
  CertificateSigningRequests,
  certificatePem,
  isSettled,
} from '../../src/api/kinds/certificate-signing-request.js';
import { ClusterTrustBundles } from '../../src/api/kinds/cluster-trust-bundle.js';
import { ServiceAccounts } from '../../src/api/kinds/service-account.js';
import type { TokenRequest } from '../../src/api/kinds/token-request.js';
import { createServer, type Server } from '../../src/embed.js';
import { readPemCertificates } from '../../src/pki/certificate.js';
import { caSigner } from '../../src/pki/signers/ca-signer.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { testAuthority, testSigningRequest } from '../../src/testing/certificates.js';
import { eventually, until } from '../../src/testing/until.js';
import { applyAll } from './apply-all.js';
import { teamComesAndGoes } from './team-comes-and-goes.js';

const account = { namespace: 'kube-system', name: 'kedge-controllers' };
const stop = new AbortController();
let server: Server;
let directory: string;
let running: Promise<void>;

beforeAll(async () => {
  server = await createServer({ listen: { port: 0 }, controllers: [] });
  const admin = server.client();
  const access = await readFile(new URL('../../examples/real-cluster/access.yaml', import.meta.url), 'utf8');
  await applyAll(admin, parseAllDocuments(access));
  const { status } = await admin
    .resource(ServiceAccounts)
    .subresource<TokenRequest>('token')
    .create(account, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: {} });
  directory = await mkdtemp(join(tmpdir(), 'kedge-example-'));
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, kubeconfigOf(status?.token ?? ''), { mode: 0o600 });
  const ca = await testAuthority({ commonName: 'Internal CA' });
  const signer = caSigner({ serves: 'example.com/internal', authority: () => ca, maxSeconds: 86_400 });
  running = runControllers({ kubeconfig, signers: [signer], log: silentLogger, signal: stop.signal });
});

const kubeconfigOf = (token: string): string =>
  JSON.stringify({
    clusters: [
      {
        name: 'c',
        cluster: { server: server.url, 'certificate-authority-data': Buffer.from(server.ca).toString('base64') },
      },
    ],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });

afterAll(async () => {
  stop.abort();
  await running;
  await server.stop();
  await rm(directory, { recursive: true });
});

test('with least privilege, the signer signs and its anchors are published', async () => {
  const requests = server.client().resource(CertificateSigningRequests);
  const csr = await requests.create(await testSigningRequest({ name: 'web', signerName: 'example.com/internal' }));
  const approved = { type: 'Approved', status: 'True', reason: 'Test', message: 'approved by a test' };
  await requests.subresource('approval').update({ ...csr, status: { conditions: [approved] } });
  const settled = await until(requests, { name: 'web' }, (found) => found !== undefined && isSettled(found));
  const [certificate] = readPemCertificates((settled && certificatePem(settled)) ?? '');
  expect(certificate?.subject.commonName).toBe('someone');

  const bundles = server.client().resource(ClusterTrustBundles);
  const { items } = await eventually(
    () => bundles.list({ fieldSelector: 'spec.signerName=example.com/internal' }),
    (list) => list.items.length > 0,
  );
  expect(items[0]?.metadata.name).toMatch(/^example\.com:internal:/);
});

test('with least privilege, the controller lets a team edit while the label is there', () =>
  teamComesAndGoes(server.client()));
