import { expect, test } from 'vitest';
import { ApiError, forbidden, noSuchResource } from '../../src/api/errors.js';
import { CertificateLedgerEntries } from '../../src/api/kinds/certificate-ledger-entry.js';
import { serverVersion } from '../../src/apiserver/version.js';
import { hasLedger } from '../../src/cli/controllers.js';
import type { Client } from '../../src/client/client.js';
import { ignoreNotFound } from '../../src/client/ignore-not-found.js';
import { testServer } from '../../src/testing/test-server.js';

const answering = (error: Error): Client =>
  ({ resource: () => ({ get: () => ignoreNotFound(Promise.reject(error)) }) }) as unknown as Client;
const calledItself = (version: string) => async () => version;
const notAsked = () => Promise.reject(new Error('the version was asked for'));
const refused = forbidden({ ...CertificateLedgerEntries, name: '1' }, 'no');

test('a server without the ledger is distinguished from one with an empty ledger', async () => {
  const server = await testServer();
  expect(await hasLedger(server.client, notAsked)).toBe(true);
  await server.stop();
  // The response of kube-apiserver, and that to the path of the version.
  const unknown = new ApiError({ message: '404 page not found', reason: 'NotFound', code: 404 });
  expect(await hasLedger(answering(unknown), notAsked)).toBe(false);
  expect(await hasLedger(answering(noSuchResource()), notAsked)).toBe(false);
});

test('a refusal by this server itself is an error, and nothing is assumed about the ledger', async () => {
  await expect(hasLedger(answering(refused), calledItself(serverVersion.gitVersion))).rejects.toBe(refused);
});

test.each(['v1.36.0', 'v1.35.3+k3s1', ''])(
  'another cluster (%j) that refuses access has no ledger',
  async (version) => {
    expect(await hasLedger(answering(refused), calledItself(version))).toBe(false);
  },
);
