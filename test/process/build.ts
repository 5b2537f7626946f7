import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { eventually } from '../../src/testing/until.js';

/** The program as it is started outside of tests: compiled JavaScript, brought up to date first. */

export const root = resolve(import.meta.dirname, '../..');
export const mainFile = join(root, 'dist/src/main.js');
const compiler = join(root, 'node_modules/typescript/bin/tsc');
const lock = join(root, 'node_modules/.kedge-build-lock');
const staleMs = 60_000;

let built: Promise<void> | undefined;

/** Compiles what has changed since it was compiled. Several test files may ask at the same time. */
export function build(): Promise<void> {
  built ??= underLock(async () => {
    if (isUpToDate()) return;
    await compile(['-p', 'tsconfig.build.json']);
  });
  return built;
}

/** Compiles a program of `examples` and answers where its JavaScript is; it finds `kedge` as an installed package does. */
export async function buildExample(file: string): Promise<string> {
  await build();
  const outDir = join(root, 'examples/dist');
  const options = ['--module', 'nodenext', '--target', 'es2023', '--skipLibCheck', '--types', 'node'];
  await underLock(() =>
    compile(['--ignoreConfig', ...options, '--rootDir', '.', '--outDir', outDir, join('examples', file)]),
  );
  return join(outDir, 'examples', file.replace(/\.ts$/, '.js'));
}

/** Type errors do not keep code from being emitted, and are for the type check to tell. */
const compile = (options: readonly string[]): Promise<void> =>
  new Promise((done, fail) => {
    execFile(process.execPath, [compiler, ...options], { cwd: root }, (error, stdout) => {
      if (error === null || existsSync(mainFile)) done();
      else fail(new Error(`the program cannot be compiled:\n${stdout}`));
    });
  });

function isUpToDate(): boolean {
  const record = join(root, 'dist/.tsbuildinfo');
  if (!existsSync(mainFile) || !existsSync(record)) return false;
  const since = statSync(record).mtimeMs;
  return ['src', 'controllers'].every((folder) =>
    (readdirSync(join(root, folder), { recursive: true }) as string[])
      .filter((file) => file.endsWith('.ts'))
      .every((file) => statSync(join(root, folder, file)).mtimeMs <= since),
  );
}

async function underLock(work: () => Promise<void>): Promise<void> {
  await eventually(takeLock, (taken) => taken, { timeoutMs: staleMs, what: 'the lock of the build' });
  try {
    await work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function takeLock(): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (age > staleMs) rmSync(lock, { recursive: true, force: true });
    return false;
  }
}
