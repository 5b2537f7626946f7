import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ClusterTrustBundles } from '../../src/api/kinds/cluster-trust-bundle.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import { type Certificate, readPemCertificates } from '../../src/pki/certificate.js';
import {
  type CertificateAuthority,
  createCertificateAuthority,
  type KeyPair,
  loadCertificateAuthority,
} from '../../src/pki/certificate-authority.js';
import { systemClock } from '../../src/runtime/clock.js';
import { type Logger, silentLogger } from '../../src/runtime/logger.js';
import { openServingFiles, readServing } from '../../src/server/serving-files.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { findKubectls, kubectl } from '../process/kubectl.js';
import { runningServer } from './running-server.js';

// Clients check certificates by the system's clock, so the server's clock starts at the same time.
const now = systemClock.now();
let clock = new FakeClock(now);
const minute = 60_000;
const day = 86_400_000;
const names = { dnsNames: ['localhost', '*.acme.test'], ipAddresses: ['127.0.0.1', '::1'] };
const days = (count: number) => ({ seconds: (count * day) / 1_000, now });

const root = await createCertificateAuthority({ commonName: 'acme-root', clock });
const intermediate = loadCertificateAuthority({
  ...(await root.issueAuthority({ commonName: 'acme-servers' })),
  clock,
});
const stranger = await createCertificateAuthority({ commonName: 'stranger', clock });
const issued = (ca: CertificateAuthority, given: object = {}): Promise<KeyPair> =>
  ca.issueServing({ commonName: 'kedge', ...names, ...days(90), ...given });
const [first, second, foreign] = await Promise.all([issued(intermediate), issued(root), issued(stranger)]);

let folder: string;
const close: (() => Promise<void>)[] = [];
beforeEach(async () => {
  clock = new FakeClock(now);
  folder = await mkdtemp(join(tmpdir(), 'kedge-serving-'));
});
afterEach(async () => {
  for (const one of close.splice(0)) await one();
  await rm(folder, { recursive: true });
});

const files = () => ({
  certificateFile: join(folder, 'tls.crt'),
  keyFile: join(folder, 'tls.key'),
  caFile: join(folder, 'ca.crt'),
});
let written = 0;
/** Replaces the files at once, as the kubelet does for a Secret. */
async function put({ certificate, key }: KeyPair, ca: string): Promise<void> {
  const next = `${++written}`;
  await mkdir(join(folder, next));
  for (const [name, text] of Object.entries({ 'tls.crt': certificate, 'tls.key': key, 'ca.crt': ca }))
    await writeFile(join(folder, next, name), text);
  await symlink(next, join(folder, 'data.new'));
  await rename(join(folder, 'data.new'), join(folder, 'data'));
  for (const name of ['tls.crt', 'tls.key', 'ca.crt'])
    await symlink(join('data', name), join(folder, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
}

const started = async (options: Parameters<typeof runningServer>[0] = {}) => {
  const running = await runningServer({
    clock,
    dataDir: join(folder, 'pki'),
    listen: { servingNames: ['kedge.acme.test'], serving: files() },
    ...options,
  });
  close.push(() => running.server.stop());
  return running;
};

/** Returns the certificate presented to a client that trusts only `ca`. */
const shownTo = (ca: string, url: string): Promise<PeerCertificate> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    request({ hostname, port, path: '/readyz', ca, agent: false }, (response) => {
      resolve((response.socket as TLSSocket).getPeerCertificate());
      response.resume();
    })
      .on('error', reject)
      .end();
  });
const serialOf = ({ certificate }: KeyPair): string => (readPemCertificates(certificate)[0] as Certificate).serial;
const serial = ({ serialNumber }: PeerCertificate): string => BigInt(`0x${serialNumber}`).toString(16);
const shows = async (ca: string, url: string): Promise<string> => serial(await shownTo(ca, url));
const hexOf = (pair: KeyPair): string => BigInt(`0x${serialOf(pair)}`).toString(16);
const caIn = (kubeconfig: string): string =>
  Buffer.from(/certificate-authority-data"?: "?([^"\n]+)/.exec(kubeconfig)?.[1] ?? '', 'base64').toString();

test("clients get the certificate of the files and its CA everywhere, while client certificates are the server's own", async () => {
  await put(first, root.anchors);
  const { server, url, ask } = await started({ controllers: 'all', authorization: 'RBAC' });
  const pki = join(folder, 'pki');
  await expect(readFile(join(pki, 'apiserver.pem'))).rejects.toThrow('ENOENT');
  const own = await readFile(join(pki, 'ca.crt'), 'utf8');

  expect(await shows(root.anchors, url)).toBe(hexOf(first));
  await expect(shownTo(own, url)).rejects.toThrow('unable to get local issuer certificate');
  expect(server.ca).toBe(root.anchors);
  expect(caIn(server.adminKubeconfig)).toBe(root.anchors);
  const metrics = await ask('root', 'GET /metrics');
  const [leaf] = readPemCertificates(first.certificate);
  expect(metrics.text).toContain(
    `kedge_serving_certificate_expiration_timestamp_seconds ${Number(leaf?.notAfter) / 1_000}\n`,
  );

  const client = server.client();
  const token = { name: 'deployer', annotations: { 'kubernetes.io/service-account.name': 'default' } };
  await expect
    .poll(async () => {
      const { items } = await client.resource(ClusterTrustBundles).list();
      const map = await client.resource(ConfigMaps).get({ namespace: 'default', name: 'kube-root-ca.crt' });
      return [
        items.find(({ spec }) => spec.signerName === 'kubernetes.io/kube-apiserver-serving')?.spec.trustBundle,
        items.find(({ spec }) => spec.signerName === 'kubernetes.io/kube-apiserver-client')?.spec.trustBundle,
        map?.data?.['ca.crt'],
      ];
    })
    .toEqual([root.anchors, own, root.anchors]);
  await client.resource(Secrets).create({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/service-account-token',
    metadata: { ...token, namespace: 'default' },
  });
  await expect
    .poll(
      async () => (await client.resource(Secrets).get({ namespace: 'default', name: 'deployer' }))?.data?.['ca.crt'],
    )
    .toBe(Buffer.from(root.anchors).toString('base64'));
  // Clients are still authenticated by the server's own CA.
  const answer = await ask('nobody', 'POST /apis/authentication.k8s.io/v1/selfsubjectreviews', selfReview, {
    agent: false,
    ca: root.anchors,
    rejectUnauthorized: true,
    cert: await readFile(join(pki, 'admin.crt')),
    key: await readFile(join(pki, 'admin.pem')),
  });
  expect(JSON.parse(answer.text).status.userInfo.username).toBe('kubernetes-admin');
});

const selfReview = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };

test('a renewed certificate or CA is used for new connections; an invalid one is reported and not used', async () => {
  await put(first, root.anchors);
  const told: string[] = [];
  const onRenewed = async ({ adminKubeconfig }: { readonly adminKubeconfig: string }): Promise<void> =>
    void told.push(adminKubeconfig);
  const { server, url, lines, ask } = await started({ controllers: 'all', onRenewed });
  const warnings = (): string =>
    JSON.stringify(
      lines.filter(({ level }) => level === 'warn'),
      errorsToo,
    );
  const passing = async <T>(look: () => T | Promise<T>): Promise<T> => {
    await clock.advance(minute);
    return look();
  };
  expect((await ask('root', 'GET /readyz')).code).toBe(200);

  await put({ certificate: second.certificate, key: first.key }, root.anchors);
  await expect.poll(() => passing(warnings)).toContain('private key does not match public key');
  await put(foreign, root.anchors);
  await expect.poll(() => passing(warnings)).toContain('does not chain to any of the CAs');
  expect(await shows(root.anchors, url)).toBe(hexOf(first));
  expect(told).toEqual([]);

  await put(second, root.anchors);
  await expect.poll(() => passing(() => shows(root.anchors, url))).toBe(hexOf(second));
  expect(caIn(server.adminKubeconfig)).toBe(root.anchors);
  const { text } = await ask('root', 'GET /metrics');
  expect(text).toContain(
    `kedge_serving_certificate_expiration_timestamp_seconds ${Number(readPemCertificates(second.certificate)[0]?.notAfter) / 1_000}\n`,
  );

  const both = root.anchors + stranger.anchors;
  await put(second, both);
  await expect.poll(() => passing(() => caIn(told.at(-1) ?? ''))).toBe(both);
  expect(server.ca).toBe(both);
  await put(foreign, both);
  await expect.poll(() => passing(() => shows(stranger.anchors, url).catch(String))).toBe(hexOf(foreign));
  await expect
    .poll(async () => {
      const map = await passing(() =>
        server.client().resource(ConfigMaps).get({ namespace: 'default', name: 'kube-root-ca.crt' }),
      );
      return map?.data?.['ca.crt'];
    })
    .toBe(both);
});

const errorsToo = (_: string, value: unknown): unknown => (value instanceof Error ? value.message : value);

test('a certificate that is not valid yet is used once it is', async () => {
  await put(first, root.anchors);
  const warned: object[] = [];
  const log: Logger = { ...silentLogger, warn: (fields) => void warned.push(fields) };
  const over = new AbortController();
  close.push(async () => over.abort());
  const opened = await openServingFiles(files(), { names: ['localhost'], clock, log, signal: over.signal });
  const early = await issued(root, { now: now + 30 * minute });
  await put(early, root.anchors);
  const certificate = async (): Promise<string> => {
    await clock.advance(minute);
    return opened.current().certificate;
  };
  await expect.poll(async () => (await certificate()) && warned.length).toBeGreaterThan(0);
  expect(opened.current()).toMatchObject(first);
  await expect.poll(certificate).toBe(early.certificate);
});

test.each<[string, () => Promise<unknown>, string]>([
  ['the files are missing', async () => {}, 'the serving certificate: cannot read '],
  [
    'the certificate is for other names',
    async () => put(await issued(root, { dnsNames: ['other.test'], ipAddresses: [] }), root.anchors),
    'the certificate is for other.test, and clients reach the server by kedge.acme.test (servingNames)',
  ],
])('a server does not start if %s', async (_, prepare, sentence) => {
  await prepare();
  await expect(started()).rejects.toThrow(sentence);
});

test('without servingNames, the certificate must be for the host in the kubeconfig', async () => {
  await put(await issued(root, { ipAddresses: [] }), root.anchors);
  const listen = { serving: files() };
  await expect(started({ listen })).rejects.toThrow('clients reach the server by 127.0.0.1 (servingNames)');
  const { lines } = await started({ listen: { ...listen, servingNames: ['localhost', 'kedge.test'] } });
  expect(lines).toContainEqual({
    level: 'warn',
    message: 'the serving certificate does not cover all servingNames',
    fields: { file: files().certificateFile, missing: ['kedge.test'] },
  });
});

const rejected = (given: Partial<Record<'certificate' | 'key' | 'ca', string>>, at = now): string => {
  try {
    readServing({ ...first, ca: root.anchors, ...given }, { names: ['localhost'], now: at });
    return 'none';
  } catch (error) {
    return (error as Error).message;
  }
};
const client = await root.issueClient({ commonName: 'kedge', ...days(90) });

test.each<[string, Parameters<typeof rejected>, string]>([
  ['valid', [{}], 'none'],
  ['valid, with only the intermediate as CA', [{ ca: intermediate.issuer }], 'none'],
  ['valid, and its own anchor', [{ ca: readFirst(first) }], 'none'],
  ['not PEM', [{ certificate: 'junk' }], 'failed to find any PEM data in certificate input'],
  ['with an invalid key', [{ key: 'junk' }], 'failed to find any PEM data in key input'],
  ['with the key of another', [{ key: second.key }], 'private key does not match public key'],
  ['without a CA', [{ ca: '' }], 'the CA certificate is missing'],
  ['under another CA', [{ ca: stranger.anchors }], 'the certificate does not chain to any of the CAs'],
  ['without its intermediate', [{ certificate: readFirst(first) }], 'the certificate does not chain to any of the CAs'],
  ['expired', [{}, now + 91 * day], 'the certificate expired at '],
  ['not valid yet', [{}, now - 91 * day], 'the certificate is not valid before '],
  ['for clients', [client], 'the certificate does not allow server authentication'],
])('a certificate is checked: %s', (_, given, sentence) => {
  expect(rejected(...given)).toContain(sentence);
});

function readFirst({ certificate }: KeyPair): string {
  return certificate.slice(0, certificate.indexOf('-----END CERTIFICATE-----\n') + 26);
}

test.each<[string, readonly string[]]>([
  ['kedge.acme.test', []],
  ['::1', []],
  ['a.b.acme.test', ['a.b.acme.test']],
  ['10.0.0.7', ['10.0.0.7']],
  ['kedge', ['kedge']],
])('the name %s: missing are %j', (name, missing) => {
  const found = readServing({ ...first, ca: root.anchors }, { names: ['localhost', name], now });
  expect(found.missing).toEqual(missing);
});

const [program] = findKubectls();
test.skipIf(program === undefined)('kubectl trusts the server by its kubeconfig', { timeout: 60_000 }, async () => {
  if (program === undefined) return;
  await put(await issued(intermediate, { dnsNames: ['localhost'] }), root.anchors);
  const { server } = await started({ listen: { servingNames: ['localhost'], serving: files() } });
  const kubeconfig = join(folder, 'admin.kubeconfig');
  await writeFile(kubeconfig, server.adminKubeconfig);
  expect(await kubectl(program, kubeconfig)('get', 'namespace', 'default', '-o', 'name')).toBe('namespace/default\n');
});
