import { X509Certificate } from 'node:crypto';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createAuthorityKeyPair, type KeyPair } from '../../../src/pki/certificate-authority.js';
import { openCaFiles } from '../../../src/pki/signers/ca-files.js';
import { type Logger, silentLogger } from '../../../src/runtime/logger.js';
import { testRequest } from '../../../src/testing/certificates.js';
import { eventually } from '../../../src/testing/until.js';

let folder: string;
let stopping: AbortController;
beforeEach(async () => {
  stopping = new AbortController();
  folder = await mkdtemp(join(tmpdir(), 'kedge-ca-'));
});
afterEach(async () => {
  stopping.abort();
  await rm(folder, { recursive: true });
});

const paths = () => ({ certificateFile: join(folder, 'ca.crt'), keyFile: join(folder, 'ca.key') });
const put = async (file: string, content: string): Promise<void> => {
  await writeFile(`${file}.new`, content);
  await rename(`${file}.new`, file);
};
const putPair = async ({ certificate, key }: KeyPair): Promise<void> => {
  await put(paths().certificateFile, certificate);
  await put(paths().keyFile, key);
};

const [old, next] = await Promise.all(['old', 'next'].map((commonName) => createAuthorityKeyPair({ commonName })));
if (old === undefined || next === undefined) throw new Error('no keys');

const follow = async () => {
  const warned: string[] = [];
  const log: Logger = { ...silentLogger, warn: (fields) => void warned.push(Object.values(fields).join()) };
  const files = await openCaFiles({ ...paths(), log, signal: stopping.signal });
  const anchorsAre = (anchors: string) =>
    eventually(
      () => files.current().anchors,
      (found) => found === anchors,
    );
  return { files, warned, anchorsAre };
};

test('files that are replaced one after the other are loaded as a pair, without a restart', async () => {
  await putPair(old);
  const { files, warned, anchorsAre } = await follow();
  expect(files.current().anchors).toBe(old.certificate);

  await put(paths().certificateFile, next.certificate);
  await eventually(
    () => warned.length,
    (count) => count > 0,
  );
  expect(warned[0]).toContain('certificate and private key of the CA do not match');
  expect(files.current().anchors).toBe(old.certificate);
  await put(paths().keyFile, next.key);
  await anchorsAre(next.certificate);

  await put(paths().keyFile, 'x');
  await eventually(
    () => warned.length,
    (count) => count > 1,
  );
  expect(files.current().anchors).toBe(next.certificate);
  await putPair(old);
  await anchorsAre(old.certificate);
});

test.each([
  ['do not match', () => putPair({ ...old, key: next.key }), 'do not match'],
  ['do not exist', async () => {}, 'cannot read'],
])('files that %s at the start are an error', async (_, prepare, message) => {
  await prepare();
  await expect(openCaFiles({ ...paths(), signal: stopping.signal })).rejects.toThrow(message);
});

/** A certificate of one CA is never issued under the name of the other, whatever is on disk meanwhile. */
test('a certificate issued during a replacement has a matching chain', async () => {
  await putPair(old);
  const { files, anchorsAre } = await follow();
  const { pem } = await testRequest();
  let replacing = true;
  const replaced = (async () => {
    for (const pair of [next, old, next]) {
      await putPair(pair);
      await anchorsAre(pair.certificate);
    }
    replacing = false;
  })();
  while (replacing) {
    const issued = await files.current().issue(pem, { seconds: 600, usages: ['client auth'] });
    const leaf = new X509Certificate(issued);
    const issuer = [old, next].find(({ certificate }) => leaf.checkIssued(new X509Certificate(certificate)));
    expect(issuer && leaf.verify(new X509Certificate(issuer.certificate).publicKey)).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await replaced;
});

test('an expired CA is reported whenever it is read', async () => {
  const hourAgo = { now: () => Date.now() - 3_600_000 };
  const [one, other] = await Promise.all(
    ['one', 'other'].map((commonName) => createAuthorityKeyPair({ commonName, seconds: 600 }, hourAgo)),
  );
  if (one === undefined || other === undefined) throw new Error('no keys');
  await putPair(one);
  const { warned, anchorsAre } = await follow();
  expect(warned).toEqual([expect.stringContaining('ca.crt,one,')]);
  await putPair(old);
  await anchorsAre(old.certificate);
  await putPair(other);
  await anchorsAre(other.certificate);
  expect(warned.at(-1)).toContain('ca.crt,other,');
});
