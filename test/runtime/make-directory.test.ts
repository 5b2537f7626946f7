import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeDirectory } from '../../src/runtime/make-directory.js';

const root = mkdtempSync(join(tmpdir(), 'kedge-make-'));
afterAll(() => rmSync(root, { recursive: true }));
const at = (...names: readonly string[]): string => join(root, ...names);

test('a directory is created with its parents, owner-only if requested, any number of times', async () => {
  await Promise.all([1, 2, 3].map(() => makeDirectory(at('a', 'b', 'c'), { mode: 0o700 })));
  for (const path of [at('a'), at('a', 'b'), at('a', 'b', 'c')]) expect(statSync(path).mode & 0o777).toBe(0o700);
  symlinkSync(at('a'), at('link'));
  await makeDirectory(at('link', 'd'));
  expect(existsSync(at('a', 'd'))).toBe(true);
});

test.each([
  ['where a file is', ['file'], 'EEXIST'],
  ['below a file', ['file', 'x', 'y'], 'ENOTDIR'],
  ['at a dangling link', ['nowhere'], 'EEXIST'],
])('a directory cannot be created %s', async (_, names, code) => {
  writeFileSync(at('file'), '');
  rmSync(at('nowhere'), { force: true });
  symlinkSync(at('none'), at('nowhere'));
  await expect(makeDirectory(at(...names))).rejects.toMatchObject({ code });
});

test.runIf(existsSync('/proc/self'))('a place where nothing can be created is reported as missing', async () => {
  await expect(makeDirectory('/proc/kedge/x')).rejects.toMatchObject({ code: 'ENOENT' });
});
