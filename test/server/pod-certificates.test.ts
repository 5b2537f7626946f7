import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CertificateLedgerEntries } from '../../src/api/kinds/certificate-ledger-entry.js';
import { CertificateSigningRequests, isFailed } from '../../src/api/kinds/certificate-signing-request.js';
import { PodCertificateRequests, podCertificateEnding } from '../../src/api/kinds/pod-certificate-request.js';
import { wellKnown } from '../../src/api/user.js';
import type { Server } from '../../src/embed.js';
import { readPemCertificates } from '../../src/pki/certificate.js';
import { type CertificateAuthority, createAuthorityKeyPair } from '../../src/pki/certificate-authority.js';
import { oids } from '../../src/pki/oids.js';
import { defineSigner } from '../../src/pki/signers/define-signer.js';
import { testAuthority, testPodRequest, testSigningRequest } from '../../src/testing/certificates.js';
import { settled } from '../../src/testing/fake-clock.js';
import { until } from '../../src/testing/until.js';
import { type NodeAgent, nodeAgent } from '../node-agent.js';
import { runningServer } from './running-server.js';

/** A whole server whose signers issue certificates to pods: one from the configuration, and one from the program. */

const folder = mkdtempSync(join(tmpdir(), 'kedge-pods-'));
const file = (name: string): string => join(folder, name);
let running: Awaited<ReturnType<typeof runningServer>>;
let server: Server;
let agent: NodeAgent;
let ca: CertificateAuthority;

beforeAll(async () => {
  const pair = await createAuthorityKeyPair({ commonName: 'in files' });
  writeFileSync(file('ca.crt'), pair.certificate);
  writeFileSync(file('ca.key'), pair.key);
  ca = await testAuthority();
  const own = defineSigner({
    serves: 'own.test/*',
    pods: {
      issue: async ({ publicKey, pod }, { seconds }) => ({
        issued: await ca.issueForPod({ publicKey, dnsNames: [pod.name] }, { seconds, usages: ['client auth'] }),
        refreshAt: Date.now() + 1_800_000,
      }),
    },
  });
  running = await runningServer({
    controllers: 'all',
    authorization: ['Node', 'RBAC'],
    signers: [own],
    certificates: {
      signers: [
        {
          name: 'example.test/pods',
          certificateFile: file('ca.crt'),
          keyFile: file('ca.key'),
          maxSeconds: 7_200,
          podCertificates: { trustDomain: 'example.test' },
        },
        {
          name: 'example.test/program',
          command: [
            process.execPath,
            '--eval',
            `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
               const { id, signPod } = JSON.parse(line);
               const reason = signPod ? 'AskedForPod' : 'AskedForOther';
               console.log(JSON.stringify({ id, refused: signPod?.serviceAccount.name ?? '', reason, anchors: '' }));
             });`,
          ],
          podCertificates: {},
        },
        { name: 'example.test/others', certificateFile: file('ca.crt'), keyFile: file('ca.key') },
      ],
    },
  });
  server = running.server;
  agent = await nodeAgent(server, { node: 'node-1', namespace: 'default', account: 'robot', pod: 'web' });
});
afterAll(async () => {
  await running[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

test('a pod gets a certificate in the name of its account, recorded and verified by the published anchors', async () => {
  const request = await agent.ask({ name: 'a', signerName: 'example.test/pods' });
  const [leaf] = readPemCertificates(request.status?.certificateChain ?? '');
  if (leaf === undefined) throw new Error('no certificate');
  expect(leaf.alternativeNames).toEqual({
    uris: ['spiffe://example.test/ns/default/sa/robot'],
    dnsNames: [],
    emailAddresses: [],
    ipAddresses: [],
  });
  expect(leaf.subject.attributes).toEqual([]);
  expect(leaf.extendedKeyUsages).toEqual(expect.arrayContaining([oids.clientAuth]));
  expect(leaf.notAfter - leaf.notBefore).toBe(7_200_000);
  expect(await agent.verify(request)).toEqual({ validUntil: leaf.notAfter });
  const { items } = await server.client().resource(CertificateLedgerEntries).list();
  expect(items.flatMap(({ spec }) => spec.records).find(({ serial }) => serial === leaf.serial)).toMatchObject({
    request: { name: 'default/a', uid: request.metadata.uid },
    requester: 'system:node:node-1',
    signerName: 'example.test/pods',
    names: ['URI:spiffe://example.test/ns/default/sa/robot'],
  });
});

test('an unknown annotation is denied', async () => {
  const request = await agent.ask({ name: 'b', signerName: 'example.test/pods', annotations: { 'a.b/c': 'd' } });
  expect(request.status?.conditions).toMatchObject([{ type: 'Denied', reason: 'InvalidUnverifiedUserAnnotations' }]);
});

test('a signer given by the program issues, too, and refuses other requests than those of pods', async () => {
  const request = await agent.ask({ name: 'c', signerName: 'own.test/pods' });
  const [leaf] = readPemCertificates(request.status?.certificateChain ?? '');
  expect(leaf?.alternativeNames.dnsNames).toEqual(['web']);
  expect(Date.parse(request.status?.beginRefreshAt ?? '') - Date.now()).toBeLessThan(1_801_000);
  const requests = server.client().resource(CertificateSigningRequests);
  const csr = await requests.create(await testSigningRequest({ name: 'c', signerName: 'own.test/x' }));
  const approved = { type: 'Approved', status: 'True', reason: 'Test', message: '' };
  await requests.subresource('approval').update({ ...csr, status: { conditions: [approved] } });
  const failed = await until(requests, { name: 'c' }, (found) => found !== undefined && isFailed(found));
  expect(failed?.status?.conditions?.at(-1)).toMatchObject({ type: 'Failed', reason: 'PodsOnly' });
});

test('a signer program that issues to pods is asked, and has the rights for it', async () => {
  const request = await agent.ask({ name: 'program', signerName: 'example.test/program' });
  const denied = { type: 'Denied', reason: 'AskedForPod', message: 'robot' };
  expect(request.status?.conditions).toMatchObject([denied]);
});

test('a signer that issues none to pods ignores their requests', async () => {
  const requests = server.client().resource(PodCertificateRequests);
  const { pod, serviceAccount, node } = agent;
  await requests.create(
    await testPodRequest({ name: 'd', signerName: 'example.test/others', pod, serviceAccount, node }),
  );
  await agent.ask({ name: 'e', signerName: 'example.test/pods' });
  await settled();
  const found = await requests.get({ namespace: 'default', name: 'd' });
  expect(found && podCertificateEnding(found)).toBeUndefined();
});

test('another node cannot get a certificate for the pod', async () => {
  const other = server.client({ username: 'system:node:node-2', groups: [wellKnown.nodes, wellKnown.authenticated] });
  const { pod, serviceAccount, node } = agent;
  const request = await testPodRequest({ name: 'f', signerName: 'example.test/pods', pod, serviceAccount, node });
  const refused = (message: string) =>
    expect.objectContaining({ reason: 'Forbidden', message: expect.stringContaining(message) });
  await expect(other.resource(PodCertificateRequests).create(request)).rejects.toEqual(
    refused('which is not the requesting node "node-2"'),
  );
  await expect(other.resource(PodCertificateRequests).get({ namespace: 'default', name: 'a' })).rejects.toEqual(
    refused("no relationship found between node 'node-2' and this object"),
  );
});

test('outcomes are counted by signer', async () => {
  const { text } = await running.ask('root', 'GET /metrics');
  expect(
    text.split('\n').filter((line) => /^kedge_signer_requests_total\{signer="(example.test\/pods|own)/.test(line)),
  ).toEqual([
    'kedge_signer_requests_total{signer="example.test/pods",result="issued"} 2',
    'kedge_signer_requests_total{signer="example.test/pods",result="refused"} 1',
    'kedge_signer_requests_total{signer="example.test/pods",result="error"} 0',
    'kedge_signer_requests_total{signer="own.test/*",result="issued"} 1',
    'kedge_signer_requests_total{signer="own.test/*",result="refused"} 1',
    'kedge_signer_requests_total{signer="own.test/*",result="error"} 0',
  ]);
});

test('a server without NodeRestriction warns if it has signers for pods', async () => {
  const said = async (nodeRestriction: boolean, pods: boolean) => {
    const signer = defineSigner({
      serves: 'own.test/x',
      issue: async () => '',
      ...(pods ? { pods: { issue: async () => '' } } : {}),
    });
    await using started = await runningServer({ nodeRestriction, signers: [signer] });
    return started.lines.filter(({ message }) => message.startsWith('nodeRestriction is off')).length;
  };
  expect([await said(false, true), await said(true, true), await said(false, false)]).toEqual([1, 0, 0]);
});
