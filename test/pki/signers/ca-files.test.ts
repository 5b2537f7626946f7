import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createAuthorityKeyPair, type KeyPair } from '../../../src/pki/certificate-authority.js';
import { PkiError } from '../../../src/pki/pki-error.js';
import { openCaFiles } from '../../../src/pki/signers/ca-files.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kedge-ca-'));
});
afterEach(() => rm(folder, { recursive: true }));

const paths = () => ({ certificateFile: join(folder, 'ca.crt'), keyFile: join(folder, 'ca.key') });
const put = async (file: string, content: string): Promise<void> => {
  await writeFile(`${file}.new`, content);
  await rename(`${file}.new`, file);
};
const putPair = async ({ certificate, key }: KeyPair): Promise<void> => {
  await put(paths().certificateFile, certificate);
  await put(paths().keyFile, key);
};

test('a pair is taken only whole', async () => {
  const [old, next] = [
    await createAuthorityKeyPair({ commonName: 'a' }),
    await createAuthorityKeyPair({ commonName: 'b' }),
  ];
  await putPair(old);
  const files = await openCaFiles(paths());
  expect(files.current().anchors).toBe(old.certificate);

  await put(paths().certificateFile, next.certificate);
  expect(await files.reload()).toBe(false);
  expect(files.current().anchors).toBe(old.certificate);

  await put(paths().keyFile, next.key);
  expect(await files.reload()).toBe(true);
  expect(files.current().anchors).toBe(next.certificate);
  expect(await files.reload()).toBe(false);

  await put(paths().keyFile, 'x');
  expect(await files.reload()).toBe(false);
  expect(files.current().anchors).toBe(next.certificate);
});

test('files that are no pair at the start are an error', async () => {
  const [one, other] = [
    await createAuthorityKeyPair({ commonName: 'a' }),
    await createAuthorityKeyPair({ commonName: 'b' }),
  ];
  await putPair({ certificate: one.certificate, key: other.key });
  await expect(openCaFiles(paths())).rejects.toThrow(PkiError);
});

test('files replaced while watched are taken without asking', async () => {
  const [old, next] = [
    await createAuthorityKeyPair({ commonName: 'a' }),
    await createAuthorityKeyPair({ commonName: 'b' }),
  ];
  await putPair(old);
  const files = await openCaFiles({ ...paths(), checkEveryMs: 1_000 });
  const stop = new AbortController();
  const watching = files.watch(stop.signal);
  await putPair(next);
  await vi.waitFor(() => expect(files.current().anchors).toBe(next.certificate), { timeout: 4_000, interval: 10 });
  stop.abort();
  await watching;
});
