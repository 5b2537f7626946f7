import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readFileIfExists, writeFileAtomically } from '../../src/runtime/atomic-file.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kedge-whole-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

test('a written file is read back, in a directory created for it and with the requested mode', async () => {
  const path = join(directory, 'new', 'key.pem');
  expect(await readFileIfExists(path)).toBeUndefined();
  for (const text of ['first', 'second']) await writeFileAtomically(path, text, 0o600);
  expect(await readFileIfExists(path)).toBe('second');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(directory, 'new'))).toEqual(['key.pem']);
});

test('a failed write names the file and leaves nothing behind', async () => {
  const path = join(directory, 'admin.kubeconfig');
  mkdirSync(path);
  await expect(writeFileAtomically(path, 'text', 0o600)).rejects.toThrow(`cannot write ${path}: EISDIR`);
  expect(readdirSync(directory)).toEqual(['admin.kubeconfig']);
  await expect(readFileIfExists(path)).rejects.toThrow(`cannot read ${path}: EISDIR`);
});
