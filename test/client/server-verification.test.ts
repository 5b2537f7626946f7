import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fetchText } from '../../src/auth/jwt/fetch-text.js';
import { fixedCredentials } from '../../src/client/cluster-access.js';
import { httpTransport } from '../../src/client/http-transport.js';
import { certificateBlocks, encodeCertificates } from '../../src/pki/pem.js';
import { testAuthority } from '../../src/testing/certificates.js';

let server: Server;
let url: string;
let authority: Awaited<ReturnType<typeof testAuthority>>;

/** Gives the server a certificate with these DNS names and returns it without the CA. */
async function serve(...dnsNames: readonly string[]): Promise<string> {
  const pair = await authority.issueServing({ commonName: 'localhost', dnsNames, seconds: 3_600 });
  server.setSecureContext({ cert: pair.certificate, key: pair.key });
  return encodeCertificates(certificateBlocks(pair.certificate).slice(0, 1));
}

beforeAll(async () => {
  authority = await testAuthority();
  server = createServer((_request, response) => void response.setHeader('connection', 'close').end('text'));
  await serve('localhost');
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  url = `https://localhost:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const clients: Readonly<Record<string, (ca: string, serverName?: string) => Promise<unknown>>> = {
  'API servers': async (ca, serverName) => {
    const transport = httpTransport({ server: url, ca, serverName, credentials: fixedCredentials({}) }, 'test');
    try {
      const { answer } = await transport.send({ method: 'GET', path: '/' });
      answer.destroy();
    } finally {
      transport.close();
    }
  },
  'JWT issuers': (certificateAuthority) => fetchText(url, { certificateAuthority }),
};

test.each(Object.entries(clients))('%s: a trusted certificate need not be self-signed', async (_name, call) => {
  const leaf = await serve('localhost');
  await call(leaf);
  await expect(call((await testAuthority()).anchors)).rejects.toThrow('certificate');
});

test.each(Object.entries(clients))('%s: only the alternative names of a certificate count', async (_name, call) => {
  await serve();
  await expect(call(authority.anchors)).rejects.toThrow('certificate relies on legacy Common Name field');
  await serve('other');
  await expect(call(authority.anchors)).rejects.toThrow('certificate is valid for other, not localhost');
});

test('the name in the certificate may be another than that of the host', async () => {
  await serve('other');
  await clients['API servers']?.(authority.anchors, 'other');
  await expect(clients['API servers']?.(authority.anchors, '127.0.0.1')).rejects.toThrow(
    "cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs",
  );
});
