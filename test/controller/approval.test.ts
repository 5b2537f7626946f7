import { afterAll, beforeAll, expect, test } from 'vitest';
import { conflict } from '../../src/api/errors.js';
import {
  type CertificateSigningRequest,
  CertificateSigningRequests,
} from '../../src/api/kinds/certificate-signing-request.js';
import { keyOf } from '../../src/api/object.js';
import type { Client } from '../../src/client/client.js';
import { approve, deny } from '../../src/controller/approval.js';
import { testSigningRequest } from '../../src/testing/certificates.js';
import { type TestServer, testServer } from '../../src/testing/test-server.js';

let kit: TestServer;
let client: Client;
/** The number of writes of decisions that fail next. */
let faults = 0;
let writes = 0;
beforeAll(async () => {
  kit = await testServer({
    controllers: [],
    intercept: ({ subresource, resource, name }) => {
      if (subresource !== 'approval') return;
      writes++;
      if (faults-- > 0) throw conflict({ group: 'certificates.k8s.io', plural: resource, name }, 'as the test wants');
    },
  });
  ({ client } = kit);
});
afterAll(() => kit.stop());

let made = 0;
const create = async (): Promise<CertificateSigningRequest> => {
  faults = 0;
  writes = 0;
  return client.resource(CertificateSigningRequests).create(await testSigningRequest({ name: `r${made++}` }));
};
/** Writes the request as another client. */
const label = (csr: CertificateSigningRequest) =>
  client
    .resource(CertificateSigningRequests)
    .patch(keyOf(csr), { type: 'merge', body: { metadata: { labels: { a: String(made++) } } } });

test('a request is approved or denied once, with the given reason', async () => {
  const csr = await create();
  const approved = await approve(client, csr, { reason: 'LabelAllows', message: 'the namespace says so' });
  const condition = { type: 'Approved', status: 'True', reason: 'LabelAllows', message: 'the namespace says so' };
  expect(approved.status?.conditions).toMatchObject([condition]);
  expect(approved.status?.conditions?.[0]?.lastUpdateTime).toBeTruthy();
  expect(await approve(client, csr, { reason: 'Again' })).toEqual(approved);
  expect(await approve(client, approved, { reason: 'Again' })).toEqual(approved);

  const denied = await deny(client, await create(), { reason: 'NoReason' });
  expect(denied.status?.conditions).toMatchObject([{ type: 'Denied', status: 'True', reason: 'NoReason' }]);
});

test('a conflict makes it read the request again and retry, up to ten times in all', async () => {
  const csr = await create();
  await label(csr);
  expect((await approve(client, csr, { reason: 'Late' })).status?.conditions).toHaveLength(1);
  expect(writes).toBe(2);

  const unlucky = await create();
  faults = 20;
  await expect(approve(client, unlucky, { reason: 'Never' })).rejects.toMatchObject({ reason: 'Conflict' });
  expect(writes).toBe(10);
});

test('a request that was decided otherwise keeps its decision', async () => {
  const stale = await create();
  await deny(client, stale, { reason: 'First' });
  const message = 'it is Denied already';
  await expect(approve(client, stale, { reason: 'Second' })).rejects.toMatchObject({
    reason: 'Conflict',
    message: expect.stringContaining(message),
  });
  const approved = await approve(client, await create(), { reason: 'First' });
  await expect(deny(client, approved, { reason: 'Second' })).rejects.toThrow('it is Approved already');
});

test('another request of the same name is not approved', async () => {
  const requests = client.resource(CertificateSigningRequests);
  const csr = await create();
  await requests.delete(keyOf(csr));
  await expect(approve(client, csr, { reason: 'Gone' })).rejects.toMatchObject({ reason: 'NotFound' });
  const other = await requests.create(await testSigningRequest({ name: csr.metadata.name ?? '' }));
  await expect(approve(client, csr, { reason: 'Other' })).rejects.toMatchObject({ reason: 'Conflict' });
  expect((await requests.get(keyOf(other)))?.status?.conditions ?? []).toEqual([]);
});
