import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fetchText } from '../../../src/auth/jwt/fetch-text.js';
import { testAuthority } from '../../../src/testing/certificates.js';

let server: TlsServer;
let url: string;
let certificateAuthority: string;
beforeAll(async () => {
  const authority = await testAuthority();
  const pair = await authority.issueServing({ commonName: 'localhost', dnsNames: ['localhost'], seconds: 3_600 });
  certificateAuthority = authority.anchors;
  server = createTlsServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
    if (request.url === '/large') response.end(Buffer.alloc(2_000_000, 'x'));
    else if (request.url === '/headers') response.writeHead(200, { 'x-large': 'x'.repeat(100_000) }).end('text');
    else if (request.url === '/moved') response.writeHead(302, { location: '/text' }).end();
    else if (request.url === '/cut') {
      response.write('half');
      setImmediate(() => response.destroy());
    } else response.end(`${request.method} ${request.url} ${request.headers.authorization ?? 'nobody'}`);
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  url = `https://localhost:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test('a text is fetched from a server with a trusted certificate', async () => {
  expect(await fetchText(`${url}/text`, { certificateAuthority })).toEqual({ status: 200, text: 'GET /text nobody' });
});

test('an answer may have many headers', async () => {
  expect(await fetchText(`${url}/headers`, { certificateAuthority })).toEqual({ status: 200, text: 'text' });
});

test('redirects are not followed', async () => {
  expect(await fetchText(`${url}/moved`, { certificateAuthority })).toEqual({ status: 302, text: '' });
});

test.each<[string, () => Promise<unknown>, RegExp]>([
  ['a server without a trusted CA', () => fetchText(`${url}/text`, {}), /certificate/],
  [
    'another CA',
    async () => fetchText(`${url}/text`, { certificateAuthority: (await testAuthority()).anchors }),
    /certificate/,
  ],
  [
    'another host name',
    () => fetchText(`${url}/text`.replace('localhost', '127.0.0.1'), { certificateAuthority }),
    /certificate is not valid for any names|doesn't contain any IP SANs|ECONNREFUSED/,
  ],
  ['plain HTTP', () => fetchText('http://localhost/text', { certificateAuthority }), /is not an https URL/],
  ['a file URL', () => fetchText('file:///etc/passwd', { certificateAuthority }), /is not an https URL/],
  ['an endless answer', () => fetchText(`${url}/large`, { certificateAuthority }), /is larger than 1048576 bytes/],
  ['an incomplete answer', () => fetchText(`${url}/cut`, { certificateAuthority }), /aborted|hang up/],
])('%s is refused', async (_name, fetch, message) => {
  await expect(fetch()).rejects.toThrow(message);
});
