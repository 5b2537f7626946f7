import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  CertificateSigningRequests,
  certificatePem,
  isSettled,
} from '../../src/api/kinds/certificate-signing-request.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import { wellKnown } from '../../src/api/user.js';
import { certificatesOptions } from '../../src/cli/certificates-options.js';
import { readConfiguration } from '../../src/cli/configuration.js';
import { createServer, type Server } from '../../src/embed.js';
import { readPemCertificates } from '../../src/pki/certificate.js';
import { createAuthorityKeyPair } from '../../src/pki/certificate-authority.js';
import { testSigningRequest } from '../../src/testing/certificates.js';
import { eventually, until } from '../../src/testing/until.js';
import { softHsm, softToken } from '../pki/signers/soft-token.js';

/** Every file in examples/signers runs a server that issues a certificate. */

const root = new URL('../../', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'kedge-signers-'));
afterAll(() => rmSync(folder, { recursive: true }));
const pair = await createAuthorityKeyPair({ commonName: 'Demo CA' });
writeFileSync(join(folder, 'ca.crt'), pair.certificate);
writeFileSync(join(folder, 'ca.key'), pair.key);
writeFileSync(join(folder, 'token-ca.crt'), pair.certificate);
writeFileSync(join(folder, 'pin'), '1234\n');

async function serverOf(name: string): Promise<Server> {
  const text = readFileSync(join(root, 'examples/signers', name), 'utf8')
    .replaceAll(/\b(?:token-)?ca\.(?:crt|key)\b/g, join(folder, '$&'))
    .replace('pinFile: pin', `pinFile: ${join(folder, 'pin')}`)
    .replace('/usr/lib/softhsm/libsofthsm2.so', softHsm ?? '')
    .replace('examples/external-signer', join(root, 'examples/external-signer'));
  writeFileSync(join(folder, name), text);
  return createServer({ certificates: certificatesOptions(await readConfiguration(join(folder, name), {})) });
}

async function issuerIn(server: Server): Promise<string | undefined> {
  const user = { username: 'alice', groups: ['demo:users', wellKnown.masters, wellKnown.authenticated] };
  const requests = server.client(user).resource(CertificateSigningRequests);
  await requests.create(
    await testSigningRequest({
      name: 'demo',
      signerName: 'example.com/demo',
      commonName: 'alice',
      expirationSeconds: 7_200,
    }),
  );
  const csr = await until(requests, { name: 'demo' }, (found) => found !== undefined && isSettled(found));
  const [certificate] = readPemCertificates((csr && certificatePem(csr)) ?? '');
  expect(certificate?.subject.commonName).toBe('alice');
  expect((certificate?.notAfter ?? 0) - Date.now()).toBeLessThanOrEqual(7_200_000);
  return certificate?.issuer.commonName;
}

const tools = spawnSync('python3', ['--version']).status === 0 && spawnSync('openssl', ['version']).status === 0;

describe('examples/signers', () => {
  test('ca-files.yaml', async () => {
    const server = await serverOf('ca-files.yaml');
    expect(await issuerIn(server)).toBe('Demo CA');
    await server.stop();
  });

  test('ca-secret.yaml', async () => {
    const server = await serverOf('ca-secret.yaml');
    const bytes = (text: string): string => Buffer.from(text).toString('base64');
    await server
      .client()
      .resource(Secrets)
      .create({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { namespace: 'pki', name: 'demo-ca' },
        type: 'kubernetes.io/tls',
        data: { 'tls.crt': bytes(pair.certificate), 'tls.key': bytes(pair.key) },
      });
    expect(await issuerIn(server)).toBe('Demo CA');
    await server.stop();
  });

  test('rotated-ca.yaml', async () => {
    const server = await serverOf('rotated-ca.yaml');
    expect(await issuerIn(server)).toBe('demo-ca 1');
    await server.stop();
  });

  test.skipIf(!tools)('external.yaml', async () => {
    const server = await serverOf('external.yaml');
    expect(await issuerIn(server)).toBe('Demo CA');
    await server.stop();
  });

  test.skipIf(softHsm === undefined)('token.yaml', async () => {
    const token = softToken({ ca: pair });
    const server = await serverOf('token.yaml');
    expect(await issuerIn(server)).toBe('Demo CA');
    await server.stop();
    token.remove();
  });
});

test('the anchors of rotated-ca.yaml are distributed to every namespace', async () => {
  const server = await serverOf('rotated-ca.yaml');
  const found = await eventually(
    () => server.client().resource(ConfigMaps).get({ namespace: 'kube-public', name: 'demo' }),
    (configMap) => configMap !== undefined,
  );
  const [anchor] = readPemCertificates(found?.data?.['ca.crt'] ?? '');
  expect(anchor?.subject.commonName).toBe('demo-ca 1');
  await server.stop();
});
