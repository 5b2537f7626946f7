import { expect, test } from 'vitest';
import { ApiError, forbidden, noSuchResource } from '../../src/api/errors.js';
import { CertificateLedgerEntries } from '../../src/api/kinds/certificate-ledger-entry.js';
import { hasLedger } from '../../src/cli/controllers.js';
import type { Client } from '../../src/client/client.js';
import { orUndefined } from '../../src/client/or-undefined.js';
import { testServer } from '../../src/testing/test-server.js';

const answering = (error: Error): Client =>
  ({ resource: () => ({ get: () => orUndefined(Promise.reject(error)) }) }) as unknown as Client;

test('a server without the ledger is told from one whose ledger is empty', async () => {
  const server = await testServer();
  expect(await hasLedger(server.client)).toBe(true);
  await server.stop();
  // As kube-apiserver answers it, and as the path of a version does.
  const unknown = new ApiError({ message: '404 page not found', reason: 'NotFound', code: 404 });
  expect(await hasLedger(answering(unknown))).toBe(false);
  expect(await hasLedger(answering(noSuchResource()))).toBe(false);
});

test('whether there is one is not guessed', async () => {
  const refused = forbidden({ ...CertificateLedgerEntries, name: '1' }, 'no');
  await expect(hasLedger(answering(refused))).rejects.toBe(refused);
});
