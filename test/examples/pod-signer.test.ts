import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { podSigner } from '../../examples/pod-signer/pod-signer.js';
import { runPodSigner } from '../../examples/pod-signer/run.js';
import type { PodCertificateRequest } from '../../src/api/kinds/pod-certificate-request.js';
import { serviceAccountGroups, serviceAccountUsername, wellKnown } from '../../src/api/user.js';
import { createServer, type Server } from '../../src/embed.js';
import { readPemCertificates } from '../../src/pki/certificate.js';
import { testAuthority, testKey } from '../../src/testing/certificates.js';
import { podSignerContract } from '../../src/testing/pod-signer-contract.js';
import { type NodeAgent, nodeAgent } from '../node-agent.js';
import { applyAll } from './apply-all.js';

let server: Server;
let agent: NodeAgent;
const ca = testAuthority({ commonName: 'Pods' });
const stop = new AbortController();
let running: Promise<void>;

beforeAll(async () => {
  server = await createServer({ controllers: [] });
  const rbac = await readFile(new URL('../../examples/pod-signer/rbac.yaml', import.meta.url), 'utf8');
  await applyAll(server.client(), parseAllDocuments(rbac));
  const account = {
    username: serviceAccountUsername('pod-signer', 'pod-signer'),
    groups: [...serviceAccountGroups('pod-signer'), wellKnown.authenticated],
  };
  running = runPodSigner({ client: server.client(account), ca: await ca, signal: stop.signal });
  agent = await nodeAgent(server, { node: 'node-1', namespace: 'default', account: 'robot', pod: 'web' });
});
afterAll(async () => {
  stop.abort();
  await running;
  await server.stop();
});

const leafOf = ({ status }: PodCertificateRequest) => readPemCertificates(status?.certificateChain ?? '')[0];

test('a pod gets a certificate in the name of its account, verified by the published CA', async () => {
  const request = await agent.ask({ name: 'plain', signerName: 'example.com/pods' });
  const leaf = leafOf(request);
  expect(leaf?.alternativeNames).toMatchObject({ uris: ['spiffe://example.com/ns/default/sa/robot'], dnsNames: [] });
  expect(leaf && leaf.notAfter - leaf.notBefore).toBe(86_400_000);
  expect(await agent.verify(request)).toMatchObject({ validUntil: leaf?.notAfter });
});

test('an annotated service name is added', async () => {
  const annotations = { 'example.com/service': 'shop' };
  const request = await agent.ask({ name: 'service', signerName: 'example.com/pods', annotations });
  expect(leafOf(request)?.alternativeNames.dnsNames).toEqual(['shop.default.svc']);
});

test.each([
  ['an RSA key', { keyType: 'RSA-3072' as const }, 'UnsupportedKeyType'],
  ['no name of a service', { annotations: { 'example.com/service': 'A' } }, 'InvalidUnverifiedUserAnnotations'],
  ['another annotation', { annotations: { 'example.com/other': 'a' } }, 'InvalidUnverifiedUserAnnotations'],
])(
  '%s is denied',
  async (name, { keyType, ...more }: { keyType?: 'RSA-3072'; annotations?: Record<string, string> }, reason) => {
    const key = await testKey(keyType);
    const request = await agent.ask({
      name: name.toLowerCase().replaceAll(' ', '-'),
      signerName: 'example.com/pods',
      key,
      ...more,
    });
    expect(request.status?.conditions).toMatchObject([{ type: 'Denied', reason }]);
  },
);

const contract = podSignerContract(async () => ({
  signer: podSigner(await testAuthority()),
  signerName: 'example.com/pods',
  refuses: { keyType: 'RSA-3072' },
  maxSeconds: 86_400,
}));
test.each(contract.map((one) => [one.name, one] as const))('%s', (_, one) => one.run());
