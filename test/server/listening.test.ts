import { X509Certificate } from 'node:crypto';
import { get } from 'node:https';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { connect, type PeerCertificate } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { createServer } from '../../src/embed.js';
import { readPemCertificates } from '../../src/pki/certificate.js';
import {
  type CertificateAuthority,
  createCertificateAuthority,
  loadCertificateAuthority,
} from '../../src/pki/certificate-authority.js';
import { systemClock } from '../../src/runtime/clock.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { openMetrics } from '../../src/runtime/metrics.js';
import { openCredentials, shownChain } from '../../src/server/credentials.js';
import { openListener } from '../../src/server/listening.js';
import { FakeClock } from '../../src/testing/fake-clock.js';

const day = 86_400_000;

const over = new AbortController();
const close: (() => Promise<void>)[] = [];
afterEach(async () => {
  over.abort();
  for (const one of close) await one();
});

interface Shown {
  /** The number of days for which the certificate is still valid. */
  readonly days: number;
  readonly isResumed: boolean;
}

/** Returns the certificate of a server, and whether the TLS session of a connection to it can be resumed. */
async function shownBy(url: string, now: number): Promise<Shown> {
  const { session } = await connected(url);
  const { until, isResumed } = await connected(url, session);
  return { days: Math.round((until - now) / day), isResumed };
}

const connected = (
  url: string,
  session?: Buffer,
): Promise<{ readonly until: number; readonly isResumed: boolean; readonly session: Buffer | undefined }> =>
  new Promise((resolve, reject) => {
    const { hostname: host, port } = new URL(url);
    const options = { host, port: Number(port), rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] };
    const socket = connect({ ...options, ...(session === undefined ? {} : { session }) });
    let latest: Buffer | undefined;
    socket.on('session', (told) => {
      latest = told;
    });
    socket.on('error', reject);
    socket.once('secureConnect', () => {
      const until = Date.parse(socket.getPeerCertificate().valid_to);
      const isResumed = socket.isSessionReused();
      socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      socket.resume();
      socket.once('close', () => resolve({ until, isResumed, session: latest }));
    });
  });

test('certificates are renewed before they expire, while the server runs', async () => {
  // Node.js checks the certificates, too, by the system's clock.
  const clock = new FakeClock(systemClock.now());
  const credentials = await openCredentials({
    directory: undefined,
    hosts: [],
    reliedOn: [],
    isNew: true,
    clock,
    log: silentLogger,
  });
  const told: string[] = [];
  const metrics = openMetrics();
  const measuredDays = async (): Promise<number> => {
    const [, end] =
      /^kedge_serving_certificate_expiration_timestamp_seconds (\d+)$/m.exec((await metrics.expose()).text) ?? [];
    return Math.round((Number(end) * 1_000 - clock.now()) / day);
  };
  let looks = 0;
  const warnOfCa = (): void => void looks++;
  const listening = await openListener(
    {
      handle: async () => ({
        result: { type: 'text', code: 200, text: 'ok' },
        warnings: [],
        representation: { mediaType: 'json', pretty: false },
      }),
      clock,
      log: silentLogger,
    },
    { ...credentials, warnOfCa },
    {
      limits: { idleMs: 1_000 * day },
      clientCas: () => '',
      metrics,
      signal: over.signal,
      onRenewed: async ({ adminKubeconfig }) => {
        told.push(adminKubeconfig);
        if (told.length === 1) throw new Error('no space left');
      },
    },
  );
  close.push(() => listening.stop(0));
  const first = listening.adminKubeconfig;
  const shown = (): Promise<Shown> => shownBy(listening.url, clock.now());
  expect(await shown()).toEqual({ days: 365, isResumed: false });

  await clock.advance(333 * day);
  expect(await shown()).toEqual({ days: 32, isResumed: false });
  expect(await measuredDays()).toBe(32);
  expect(listening.adminKubeconfig).toBe(first);

  const toldAfterDays = async (): Promise<number> => {
    if (told.length < 2) await clock.advance(day);
    return told.length;
  };
  await expect.poll(toldAfterDays).toBe(2);
  const { days, isResumed } = await shown();
  expect(days).toBeGreaterThan(300);
  expect(await measuredDays()).toBe(days);
  expect(isResumed).toBe(false);
  expect(listening.adminKubeconfig).not.toBe(first);
  await clock.advance(10 * day);
  expect(told).toEqual([listening.adminKubeconfig, listening.adminKubeconfig]);
  // For a daily check, time that passes in one leap counts as one day.
  expect(looks).toBeGreaterThan(2);
});

test('a server presents its full chain, without duplicates', async () => {
  const clock = new FakeClock();
  const root = await createCertificateAuthority({ commonName: 'root', clock });
  const pair = await root.issueAuthority({ commonName: 'own' });
  const alone = { ...pair, certificate: pair.certificate.slice(0, -root.anchors.length) };
  const shown = async (ca: CertificateAuthority): Promise<readonly string[]> => {
    const serving = await ca.issueServing({ commonName: 'server', seconds: 3_600 });
    return readPemCertificates(shownChain(serving, ca)).map(({ subject }) => subject.commonName);
  };
  expect(await shown(root)).toEqual(['server', 'root']);
  expect(await shown(loadCertificateAuthority({ ...pair, clock }))).toEqual(['server', 'own', 'root']);
  expect(await shown(loadCertificateAuthority({ ...alone, clock }))).toEqual(['server', 'own']);
});

test('the kubeconfig and documents have the first serving name, the certificate has all', async () => {
  const names = ['kedge.acme.test', '2001:db8::7'];
  await using server = await createServer({ controllers: [], listen: { host: '0.0.0.0', servingNames: names } });
  const { hostname, port } = new URL(server.url ?? '');
  const shown = (name: string): string => Buffer.from(memberOf(server.adminKubeconfig, name), 'base64').toString();
  const documentsAs = (host: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const cert = shown('client-certificate-data');
      // The check of Node.js is not used, because that of version 22.23 does not support IPv6.
      const checkServerIdentity = (_: string, { raw }: PeerCertificate): Error | undefined => {
        const peer = new X509Certificate(raw);
        const found = isIP(host) === 0 ? peer.checkHost(host) : peer.checkIP(host);
        return found === undefined ? new Error(`the certificate is not that of ${host}`) : undefined;
      };
      const tls = { ca: server.ca, cert, key: shown('client-key-data'), agent: false, checkServerIdentity };
      get({ ...tls, hostname, port, path: '/.well-known/openid-configuration' }, async (response) => {
        resolve((await response.toArray()).join(''));
      }).on('error', reject);
    });
  expect(hostname).toBe('127.0.0.1');
  expect(memberOf(server.adminKubeconfig, 'server')).toBe(`https://kedge.acme.test:${port}`);
  for (const name of [...names, hostname, ...ownAddresses()]) {
    expect(JSON.parse(await documentsAs(name))).toMatchObject({
      jwks_uri: `https://kedge.acme.test:${port}/openid/v1/jwks`,
    });
  }
  await expect(documentsAs('other.acme.test')).rejects.toThrow('is not that of other.acme.test');
});

const memberOf = (yaml: string, name: string): string =>
  new RegExp(`^ *"?${name}"?: "?([^"\\n]+)"?$`, 'm').exec(yaml)?.[1] ?? '';

const ownAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).filter(({ family }) => family === 'IPv4').map(({ address }) => address),
  );
