import { afterAll, beforeAll, expect, test } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import { CertificateSigningRequests } from '../../src/api/kinds/certificate-signing-request.js';
import { ServiceAccounts } from '../../src/api/kinds/service-account.js';
import type { TokenRequest } from '../../src/api/kinds/token-request.js';
import { createServer, type Server } from '../../src/embed.js';
import { testSigningRequest } from '../../src/testing/certificates.js';

let server: Server;
beforeAll(async () => {
  server = await createServer({
    listen: { host: '127.0.0.1', port: 0 },
    controllers: [],
    domains: { ...defaultDomains, api: 'api.example' },
  });
});
afterAll(() => server.stop());

const signerName = 'example.com/own';
const apply = (body: object) => ({ type: 'apply' as const, body, fieldManager: 'test', force: true });

test('apply to an object and its subresources uses the apiVersion of the served domain', async () => {
  const requests = server.client().resource(CertificateSigningRequests);
  const { apiVersion, kind } = await requests.create(await testSigningRequest({ name: 'a', signerName }));
  expect(apiVersion).toBe('certificates.api.example/v1');
  const usual = { apiVersion: 'certificates.k8s.io/v1', kind, metadata: { name: 'a' } };
  const key = { name: 'a' };
  const labelled = await requests.patch(key, apply({ ...usual, metadata: { name: 'a', labels: { l: 'x' } } }));
  expect(labelled).toMatchObject({ apiVersion, metadata: { labels: { l: 'x' } } });
  const conditions = [{ type: 'Failed', status: 'True', reason: 'Why', message: 'so' }];
  const failed = await requests.subresource('status').patch(key, apply({ ...usual, status: { conditions } }));
  expect(failed).toMatchObject({ apiVersion, status: { conditions } });
  await expect(requests.subresource('status').patch(key, apply({ kind }))).rejects.toThrow('invalid object type');
});

test('a subresource request of a kind outside the domain is translated as well', async () => {
  const accounts = server.client().resource(ServiceAccounts);
  const key = { namespace: 'default', name: 'a' };
  await accounts.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: key });
  const usual = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: { audiences: [] } };
  const answer = await accounts.subresource<TokenRequest>('token').create(key, usual);
  expect(answer).toMatchObject({ apiVersion: 'authentication.api.example/v1', status: { token: expect.any(String) } });
});
