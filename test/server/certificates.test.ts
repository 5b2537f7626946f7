import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CertificateLedgerEntries } from '../../src/api/kinds/certificate-ledger-entry.js';
import {
  type CertificateSigningRequest,
  CertificateSigningRequests,
  certificatePem,
  isSettled,
} from '../../src/api/kinds/certificate-signing-request.js';
import { ClusterTrustBundles } from '../../src/api/kinds/cluster-trust-bundle.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import { wellKnown } from '../../src/api/user.js';
import { createServer, type Server } from '../../src/embed.js';
import { readCaState } from '../../src/pki/ca-state.js';
import { readPemCertificates } from '../../src/pki/certificate.js';
import {
  createAuthorityKeyPair,
  createCertificateAuthority,
  type KeyPair,
  loadCertificateAuthority,
} from '../../src/pki/certificate-authority.js';
import { ledgerHash, verifyLedger } from '../../src/pki/certificate-ledger.js';
import { tags } from '../../src/pki/der.js';
import { encode, encodeOid, sequence, setOf } from '../../src/pki/der-writer.js';
import { privateKeyPem } from '../../src/pki/key-pair.js';
import { type TestSigningRequestOptions, testKey, testSigningRequest } from '../../src/testing/certificates.js';
import { eventually, until } from '../../src/testing/until.js';
import { requestOf } from '../pki/raw-request.js';

/** A whole server with signers, a policy and bundles in its configuration. */

const hasPython = spawnSync('python3', ['--version']).status === 0 && spawnSync('openssl', ['version']).status === 0;
if (!hasPython) console.warn('python3 or openssl is missing: the signer in Python is not tried');

const folder = mkdtempSync(join(tmpdir(), 'kedge-certificates-'));
const file = (name: string): string => join(folder, name);
const usages = ['digital signature', 'client auth'];
let server: Server;
let files: KeyPair;

const clientSigner = 'kubernetes.io/kube-apiserver-client';
const nodeSigner = 'kubernetes.io/kube-apiserver-client-kubelet';
beforeAll(async () => {
  files = await createAuthorityKeyPair({ commonName: 'in files' });
  writeFileSync(file('ca.crt'), files.certificate);
  writeFileSync(file('ca.key'), files.key);
  const script = new URL('../../examples/external-signer/signer.py', import.meta.url).pathname;
  server = await createServer({
    listen: { port: 0 },
    certificates: {
      signers: [
        { name: 'example.test/files', certificateFile: file('ca.crt'), keyFile: file('ca.key'), maxSeconds: 7_200 },
        { name: 'example.test/command', command: ['python3', script, file('ca.crt'), file('ca.key')] },
        { name: nodeSigner, command: ['python3', script, file('ca.crt'), file('ca.key')] },
        { name: clientSigner, secret: 'pki/client-ca', rotation: { propagationSeconds: 0 } },
      ],
      policy: {
        rules: [
          {
            name: 'team',
            effect: 'approve',
            signers: ['example.test/*', clientSigner],
            requesters: { groups: ['team'] },
            usages: [...usages, 'server auth'],
            subject: { commonName: ['{username}'] },
          },
          { name: 'others', effect: 'deny', signers: ['example.test/files'] },
        ],
      },
      trust: {
        bundles: [
          {
            name: 'corp',
            sources: [{ file: file('ca.crt') }, { signer: clientSigner }],
            targets: { configMaps: { namespaces: {} } },
          },
        ],
      },
    },
  });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

async function ask(
  options: TestSigningRequestOptions,
  { username = 'alice', groups = ['team'] }: { readonly username?: string; readonly groups?: readonly string[] } = {},
): Promise<CertificateSigningRequest> {
  const requests = server
    .client({ username, groups: [...groups, wellKnown.masters, wellKnown.authenticated] })
    .resource(CertificateSigningRequests);
  await requests.create(await testSigningRequest({ commonName: username, ...options }));
  const found = await until(requests, { name: options.name }, (csr) => csr !== undefined && isSettled(csr));
  if (found === undefined) throw new Error('gone');
  return found;
}
const leafOf = (csr: CertificateSigningRequest) => readPemCertificates(certificatePem(csr) ?? '')[0];
const records = async () =>
  (await server.client().resource(CertificateLedgerEntries).list()).items.flatMap(({ spec }) => spec.records);

test('a CA in files signs what a rule approves, and records it in the ledger', async () => {
  const csr = await ask({ name: 'files', signerName: 'example.test/files' });
  const leaf = leafOf(csr);
  expect(leaf?.issuer.commonName).toBe('in files');
  expect((leaf?.notAfter ?? 0) - Date.now()).toBeLessThanOrEqual(7_200_000);
  expect(csr.status?.conditions?.[0]).toMatchObject({ type: 'Approved', reason: 'PolicyApproved' });
  expect((await records()).find(({ request }) => request.name === 'files')).toMatchObject({
    request: { uid: csr.metadata.uid },
    requester: 'alice',
    approval: { reason: 'PolicyApproved', message: 'Approved by rule "team" of the certificate policy.' },
    signerName: 'example.test/files',
    serial: leaf?.serial,
    subject: 'CN=alice',
  });
});

test('a rule denies a request', async () => {
  const csr = await ask({ name: 'denied', signerName: 'example.test/files' }, { username: 'mallory', groups: [] });
  expect(csr.status?.conditions?.[0]).toMatchObject({ type: 'Denied', reason: 'PolicyDenied' });
  expect((await records()).some(({ request }) => request.name === 'denied')).toBe(false);
});

test.skipIf(!hasPython)('a signer program signs, and may refuse', async () => {
  const csr = await ask({ name: 'command', signerName: 'example.test/command' });
  expect(leafOf(csr)?.subject.commonName).toBe('alice');
  const refused = await ask({ name: 'refused', signerName: 'example.test/command', usages: ['server auth'] });
  expect(refused.status?.conditions?.at(-1)).toMatchObject({ type: 'Failed', reason: 'UsageNotAllowed' });
});

test('a signer program for a well-known signer gets no request with parts that its rules cannot check', async () => {
  const organization = (tag: number, text: string): Buffer =>
    setOf([sequence(encodeOid('2.5.4.10'), encode(tag, Buffer.from(text)))]);
  const request = await requestOf({
    subject: sequence(
      organization(tags.printableString, 'system:nodes'),
      organization(tags.generalString, 'system:masters'),
      setOf([sequence(encodeOid('2.5.4.3'), encode(tags.printableString, Buffer.from('system:node:a')))]),
    ),
  });
  const csr = await testSigningRequest({ name: 'hidden', signerName: nodeSigner });
  const requests = server.client().resource(CertificateSigningRequests);
  await requests.create({ ...csr, spec: { ...csr.spec, request: Buffer.from(request).toString('base64') } });
  const found = await until(requests, { name: 'hidden' }, (one) => one !== undefined && isSettled(one));
  expect(found?.status?.conditions?.at(-1)).toMatchObject({
    type: 'Failed',
    reason: 'SignerValidationFailure',
    message: 'the subject has a value of type 2.5.4.10 that is not a string',
  });
});

describe('a CA in a Secret', () => {
  const secret = { namespace: 'pki', name: 'client-ca' };
  const state = async () => readCaState((await server.client().resource(Secrets).get(secret))?.data ?? {});

  test('is created, signs, and its certificates authenticate clients', async () => {
    const certificate = certificatePem(await ask({ name: 'caller', signerName: clientSigner })) ?? '';
    expect(leafOf(await ask({ name: 'caller-2', signerName: clientSigner }))?.issuer.commonName).toBe('client-ca 1');
    const key = privateKeyPem(await testKey());
    const body = await reviewBy(server, { certificate, key });
    expect(body).toMatchObject({ status: { userInfo: { username: 'alice' } } });
  });

  test('is replaced on request', async () => {
    const secrets = server.client().resource(Secrets);
    const found = await secrets.get(secret);
    if (found === undefined) throw new Error('gone');
    const annotations = { ...found.metadata.annotations, 'kedge.internal/rotate': 'now' };
    await secrets.update({ ...found, metadata: { ...found.metadata, annotations } });
    await eventually(state, ({ next, retiring }) => next !== undefined || retiring.length > 0);
    expect((await state()).generation).toBeLessThanOrEqual(2);
    expect((await server.client().resource(Secrets).get(secret))?.metadata.annotations).not.toHaveProperty(
      'kedge.internal/rotate',
    );
  });
});

/** Returns the identity that a server sees in a certificate. */
const reviewBy = (asked: Server, { certificate: cert, key }: KeyPair): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' });
    const asking = httpsRequest(
      `${asked.url}/apis/authentication.k8s.io/v1/selfsubjectreviews`,
      { method: 'POST', ca: asked.ca, cert, key, headers: { 'content-type': 'application/json' } },
      (answer) => {
        let text = '';
        answer.on('data', (chunk) => {
          text += chunk;
        });
        answer.on('end', () => resolve(JSON.parse(text)));
      },
    );
    asking.on('error', reject);
    asking.end(body);
  });

test('a client certificate is accepted below a CA of the server, but not below a CA above that', async () => {
  const root = await createCertificateAuthority({ commonName: 'root' });
  const own = await root.issueAuthority({ commonName: 'own' });
  const ofSigner = await root.issueAuthority({ commonName: 'of the signer' });
  mkdirSync(file('below'));
  writeFileSync(file('below/ca.pem'), own.certificate + own.key);
  writeFileSync(file('below/signer.crt'), ofSigner.certificate);
  writeFileSync(file('below/signer.key'), ofSigner.key);
  const other = await createServer({
    listen: { port: 0 },
    dataDir: file('below'),
    controllers: [],
    certificates: {
      signers: [{ name: clientSigner, certificateFile: file('below/signer.crt'), keyFile: file('below/signer.key') }],
    },
  });
  const issued = await Promise.all(
    [loadCertificateAuthority(own), loadCertificateAuthority(ofSigner), root].map((ca) =>
      ca.issueClient({ commonName: 'alice', organizations: ['system:masters'], seconds: 600 }),
    ),
  );
  const answers = await Promise.all(issued.map((credentials) => reviewBy(other, credentials)));
  await other.stop();
  expect(answers).toMatchObject([
    { status: { userInfo: { username: 'alice' } } },
    { status: { userInfo: { username: 'alice' } } },
    { code: 401 },
  ]);
});

test('anchors are published and distributed', async () => {
  const client = server.client();
  const bundles = await eventually(
    () => client.resource(ClusterTrustBundles).list({ fieldSelector: 'spec.signerName=example.test/files' }),
    ({ items }) => items.length > 0,
  );
  expect(bundles.items[0]?.spec.trustBundle).toBe(files.certificate);
  const distributed = await eventually(
    () => client.resource(ConfigMaps).get({ namespace: 'default', name: 'corp' }),
    (found) => found !== undefined,
  );
  expect(distributed?.data?.['ca.crt']).toContain(files.certificate.trim());
});

describe('the ledger', () => {
  const entries = () => server.client().resource(CertificateLedgerEntries);

  test('is complete and valid', async () => {
    const { items } = await entries().list();
    const pages = items.map(({ metadata, spec }) => ({ name: metadata.name ?? '', spec }));
    expect(verifyLedger(pages).problems).toEqual([]);
    expect(pages.length).toBeGreaterThan(0);
  });

  test('cannot be changed by anybody', async () => {
    const [entry] = (await entries().list()).items;
    if (entry === undefined) throw new Error('empty');
    const key = { name: entry.metadata.name ?? '' };
    await expect(entries().update(entry)).rejects.toMatchObject({ code: 405 });
    await expect(entries().patch(key, { type: 'merge', body: {} })).rejects.toMatchObject({ code: 405 });
    await expect(entries().delete(key)).rejects.toMatchObject({ code: 405 });
    await expect(entries().deleteCollection()).rejects.toMatchObject({ code: 405 });
  });

  test('accepts only the next entry', async () => {
    const { items } = await entries().list();
    const last = items.at(-1);
    if (last === undefined) throw new Error('empty');
    const entry = (spec: { readonly sequence: number; readonly previous?: string }) => {
      const whole = { ...spec, records: last.spec.records };
      const name = String(spec.sequence).padStart(16, '0');
      return { ...last, metadata: { name }, spec: { ...whole, hash: ledgerHash(whole) } };
    };
    const sequence = last.spec.sequence + 1;
    await expect(entries().create(entry({ sequence: 1 }))).rejects.toMatchObject({ code: 409 });
    await expect(entries().create(entry({ sequence, previous: 'x' }))).rejects.toMatchObject({ code: 409 });
    await expect(entries().create(entry({ sequence: sequence + 1, previous: last.spec.hash }))).rejects.toMatchObject({
      code: 409,
    });
    const good = entry({ sequence, previous: last.spec.hash });
    await expect(entries().create({ ...good, spec: { ...good.spec, hash: 'x' } })).rejects.toMatchObject({ code: 422 });
    await expect(entries().create({ ...good, metadata: { name: 'x' } })).rejects.toMatchObject({ code: 422 });
  });

  test('cannot be read without permission', async () => {
    const stranger = server.client({ username: 'stranger', groups: [wellKnown.authenticated] });
    await expect(stranger.resource(CertificateLedgerEntries).list()).rejects.toMatchObject({ code: 403 });
  });

  test('is not part of discovery', async () => {
    const found = await server.client().discover();
    expect(found.some(({ group }) => group.includes('kedge'))).toBe(false);
  });
});

test('a CA in files is replaced without a restart', async () => {
  const next = await createAuthorityKeyPair({ commonName: 'next in files' });
  writeFileSync(file('ca.key'), next.key);
  writeFileSync(file('ca.crt'), next.certificate);
  let count = 0;
  const issuer = async () =>
    leafOf(await ask({ name: `replaced-${count++}`, signerName: 'example.test/files' }))?.issuer.commonName;
  await eventually(issuer, (name) => name === 'next in files');
});

test('a signer program has exited when the server has stopped', async () => {
  const body = `const { writeFileSync } = require('node:fs');
    process.stdin.on('data', (line) => {
      process.stdout.write(JSON.stringify({ id: JSON.parse(line).id, anchors: '' }) + '\\n');
      writeFileSync('${file('began')}', '');
    }).on('end', () => setTimeout(() => writeFileSync('${file('ended')}', ''), 300));`;
  const other = await createServer({
    certificates: { signers: [{ name: 'example.test/program', command: [process.execPath, '-e', body] }] },
  });
  await eventually(
    async () => existsSync(file('began')),
    (isThere) => isThere,
  );
  await other.stop();
  expect(existsSync(file('ended'))).toBe(true);
});

test('two signers with the same name are refused at the start', async () => {
  const source = { certificateFile: file('ca.crt'), keyFile: file('ca.key') };
  const names = ['kubernetes.io/kubelet-serving', 'kubernetes.io/nodeagent-serving'];
  const starting = createServer({ certificates: { signers: names.map((name) => ({ name, ...source })) } });
  await expect(starting).rejects.toThrow('two signers serve kubernetes.io/kubelet-serving');
});

test('a CA that cannot be replaced in time is refused at the start', async () => {
  const rotation = { caSeconds: 10 * 86_400 };
  const signers = [{ name: 'example.test/short', secret: 'pki/short', rotation }];
  await expect(createServer({ controllers: [], certificates: { signers } })).rejects.toThrow(
    'the CA in pki/short cannot be rotated with these settings: it would be replaced constantly',
  );
});
