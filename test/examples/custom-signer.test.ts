import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { runCiSigner } from '../../examples/custom-signer/run.js';
import {
  type CertificateSigningRequest,
  CertificateSigningRequests,
  certificatePem,
  isSettled,
} from '../../src/api/kinds/certificate-signing-request.js';
import { ClusterTrustBundles } from '../../src/api/kinds/cluster-trust-bundle.js';
import { serviceAccountGroups, serviceAccountUsername, wellKnown } from '../../src/api/user.js';
import { createServer, type Server } from '../../src/embed.js';
import { readPemCertificates } from '../../src/pki/certificate.js';
import { type TestSigningRequestOptions, testAuthority, testSigningRequest } from '../../src/testing/certificates.js';
import { eventually, until } from '../../src/testing/until.js';
import { applyAll } from './apply-all.js';

let server: Server;
const ca = testAuthority({ commonName: 'CI clients' });
const stop = new AbortController();
let running: Promise<void>;

beforeAll(async () => {
  server = await createServer({ controllers: [] });
  const rbac = await readFile(new URL('../../examples/custom-signer/rbac.yaml', import.meta.url), 'utf8');
  await applyAll(server.client(), parseAllDocuments(rbac));
  const account = {
    username: serviceAccountUsername('ci-signer', 'ci-signer'),
    groups: [...serviceAccountGroups('ci-signer'), wellKnown.authenticated],
  };
  running = runCiSigner({ client: server.client(account), ca: await ca, signal: stop.signal });
});
afterAll(async () => {
  stop.abort();
  await running;
  await server.stop();
});

async function request(
  name: string,
  groups: readonly string[],
  { usages, expirationSeconds }: Pick<TestSigningRequestOptions, 'usages' | 'expirationSeconds'> = {},
): Promise<CertificateSigningRequest> {
  const job = { username: name, groups: [...groups, wellKnown.masters, wellKnown.authenticated] };
  const requests = server.client(job).resource(CertificateSigningRequests);
  const options = {
    ...(usages === undefined ? {} : { usages }),
    ...(expirationSeconds === undefined ? {} : { expirationSeconds }),
  };
  const csr = await requests.create(
    await testSigningRequest({ name, signerName: 'example.com/ci', commonName: name, ...options }),
  );
  const approved = { type: 'Approved', status: 'True', reason: 'Test', message: 'approved by a test' };
  await requests.subresource('approval').update({ ...csr, status: { conditions: [approved] } });
  const settled = await until(requests, { name }, (object) => object !== undefined && isSettled(object));
  if (settled === undefined) throw new Error('gone');
  return settled;
}

test('a CI job gets a certificate for an hour', async () => {
  const [certificate] = readPemCertificates(certificatePem(await request('job-1', ['ci:jobs'])) ?? '');
  expect(certificate?.subject.commonName).toBe('job-1');
  expect(certificate?.issuer.commonName).toBe('CI clients');
  expect((certificate?.notAfter ?? 0) - Date.now()).toBeLessThanOrEqual(3_600_000);
});

test.each([
  ['for less', 900, 900],
  ['no longer than an hour', 7_200, 3_600],
])('a CI job may request a lifetime: %s', async (name, expirationSeconds, granted) => {
  const csr = await request(name.replaceAll(' ', '-'), ['ci:jobs'], { expirationSeconds });
  const [certificate] = readPemCertificates(certificatePem(csr) ?? '');
  const lifetimeMs = (certificate?.notAfter ?? 0) - Date.now();
  expect(lifetimeMs).toBeLessThanOrEqual(granted * 1_000);
  expect(lifetimeMs).toBeGreaterThan(granted * 1_000 - 300_000);
});

test.each([
  ['someone else', [], undefined, 'RequesterNotAllowed'],
  ['a job that wants to be a server', ['ci:jobs'], ['server auth'], 'UsageNotAllowed'],
])('%s is refused', async (name, groups, usages, reason) => {
  const csr = await request(name.replaceAll(' ', '-'), groups, usages === undefined ? {} : { usages });
  expect(csr.status?.certificate).toBeUndefined();
  expect(csr.status?.conditions?.at(-1)).toMatchObject({ type: 'Failed', reason });
});

test('the CA is published', async () => {
  const bundles = server.client().resource(ClusterTrustBundles);
  const { items } = await eventually(
    () => bundles.list({ fieldSelector: 'spec.signerName=example.com/ci' }),
    (list) => list.items.length > 0,
  );
  expect(items[0]?.spec.trustBundle).toBe((await ca).anchors);
});
