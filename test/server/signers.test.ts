import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import { createAuthorityKeyPair, loadCertificateAuthority } from '../../src/pki/certificate-authority.js';
import type { Signer } from '../../src/pki/signer.js';
import { defineSigner } from '../../src/pki/signers/define-signer.js';
import { type Logger, silentLogger } from '../../src/runtime/logger.js';
import { type OpenSignersOptions, openSigners } from '../../src/server/signers.js';
import type { ConfiguredSigner } from '../../src/server/signing-options.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { testServer } from '../../src/testing/test-server.js';
import { FakeClient } from '../fake-client.js';

const opened = (more: Partial<OpenSignersOptions>): Promise<unknown> =>
  openSigners({
    own: [],
    domains: defaultDomains,
    clock: new FakeClock(),
    log: silentLogger,
    signal: AbortSignal.abort(),
    ...more,
  });

test.each<[ConfiguredSigner, string]>([
  [{ name: 'a.test/x', certificateFile: '/nowhere', keyFile: '/none' }, 'a.test/x: cannot read /no'],
  [
    {
      name: 'a.test/x',
      certificateFile: '/nowhere',
      pkcs11: { library: 'l', token: 't', key: 'k', pinFile: '/nowhere' },
    },
    'a.test/x: cannot read /nowhere: ENOENT',
  ],
  [{ name: 'a.test/x', command: [] }, 'a.test/x: the command is empty'],
  [{ name: 'a.test/x', secret: 'x' }, 'a.test/x: "x" is not namespace/name'],
  [
    { name: 'kubernetes.io/kubelet-serving', secret: 'a/b', podCertificates: { trustDomain: 'a.test' } },
    'kubernetes.io/kubelet-serving: a well-known signer issues no certificates to pods',
  ],
  [
    { name: 'kubernetes.io/kubelet-serving', command: ['c'], podCertificates: {} },
    'kubernetes.io/kubelet-serving: a well-known signer issues no certificates to pods',
  ],
])('a signer that cannot be opened is named in the error: %j', async (signer, problem) => {
  await expect(opened({ configured: [signer] })).rejects.toThrow(`signing: ${problem}`);
});

test('an error of the CA for the well-known signers says which CA it is', async () => {
  await expect(opened({ caFiles: { certificateFile: '/nowhere', keyFile: '/nowhere' } })).rejects.toThrow(
    'signing: the CA for the well-known signers: cannot read /nowhere: ENOENT',
  );
});

test('signers that share a CA with client certificates are logged', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kedge-signers-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const inFiles = async (commonName: string) => {
    const pair = await createAuthorityKeyPair({ commonName });
    const files = { certificateFile: join(folder, `${commonName}.crt`), keyFile: join(folder, `${commonName}.key`) };
    writeFileSync(files.certificateFile, pair.certificate);
    writeFileSync(files.keyFile, pair.key);
    return { files, ca: loadCertificateAuthority(pair) };
  };
  const [server, clients, other] = [await inFiles('server'), await inFiles('clients'), await inFiles('other')];
  const told: unknown[] = [];
  const log: Logger = {
    ...silentLogger,
    warn: (fields, message) => void (message?.includes('also verifies clients') && told.push(fields)),
  };
  await opened({
    ca: server.ca,
    configured: [
      { name: 'kubernetes.io/kube-apiserver-client', ...clients.files },
      { name: 'kubernetes.io/kubelet-serving', ...clients.files },
      { name: 'kubernetes.io/kube-apiserver-client-kubelet', secret: 'pki/nodes' },
      { name: 'a.test/clients', ...clients.files },
      { name: 'a.test/server', ...server.files },
      { name: 'a.test/other', ...other.files },
      { name: 'a.test/nodes', secret: 'pki/nodes' },
      { name: 'a.test/secret', secret: 'pki/other' },
    ],
    client: () => new FakeClient(new FakeClock()),
    log,
  });
  expect(told).toEqual(['a.test/clients', 'a.test/server', 'a.test/nodes'].map((signer) => ({ signer })));
});

test('signers given by the program are stopped with the server, even if one fails to', async () => {
  const stopped: string[] = [];
  const signer = (name: string, fail?: Error): Signer => ({
    serves: `a.test/${name}`,
    sign: async () => ({ refused: 'no', reason: 'No' }),
    async stop() {
      if (fail !== undefined) throw fail;
      stopped.push(name);
    },
  });
  const signers = [signer('x', new Error('it hangs')), defineSigner({ ...signer('y'), issue: async () => '' })];
  const { stop } = await testServer({ controllers: [], signers });
  expect(stopped).toEqual([]);
  await stop();
  expect(stopped).toEqual(['y']);
});

test('a signer that does not stop is given up and logged', async () => {
  const clock = new FakeClock();
  const complaints: unknown[] = [];
  const log = { ...silentLogger, error: (fields: object, message: string) => void complaints.push([message, fields]) };
  const stop = new AbortController();
  const sign = async () => ({ refused: 'no', reason: 'No' });
  const own: readonly Signer[] = [{ serves: 'a.test/x', sign, stop: () => new Promise(() => {}) }];
  const { ended } = await openSigners({
    own,
    domains: defaultDomains,
    clock,
    log,
    signal: stop.signal,
  } as OpenSignersOptions);
  stop.abort();
  await clock.advance(9_999);
  expect(complaints).toEqual([]);
  await clock.advance(1);
  await ended;
  const err = expect.objectContaining({ message: 'not done within 10000 ms' });
  expect(complaints).toEqual([['a signer did not stop', { signer: 'a.test/x', err }]]);
});
