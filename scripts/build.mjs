#!/usr/bin/env node
/**
 * Builds `dist`: types by the compiler, which also checks them, and JavaScript bundled into a few files, because
 * loading hundreds of small ones takes longer than the rest of a server's start.
 *
 *   node scripts/build.mjs                everything, from nothing
 *   node scripts/build.mjs --if-changed   JavaScript only, and only if a source differs from what was built
 *   node scripts/build.mjs --out DIR      everything, into another directory
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';

const root = resolve(import.meta.dirname, '..');
const { values: flags } = parseArgs({ options: { 'if-changed': { type: 'boolean' }, out: { type: 'string' } } });
const dist = resolve(root, flags.out ?? 'dist');
const stamp = join(dist, '.built');
const lock = join(root, 'node_modules', '.kedge-build-lock');
const lockMs = 120_000;

/** The entry points of the package, and the program. */
const entries = ['src/main', 'src/index', 'src/testing/index', 'controllers/index'];

/** Returns every file that affects the build. */
function inputs() {
  const sources = ['src', 'controllers'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(folder, file)),
  );
  return [
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'scripts/build.mjs',
    'scripts/spreads.mjs',
    ...sources.sort(),
  ];
}

function fingerprint() {
  const hash = createHash('sha256').update(process.version);
  for (const file of inputs()) hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

const isBuilt = (wanted) =>
  existsSync(stamp) &&
  readFileSync(stamp, 'utf8') === wanted &&
  entries.every((entry) => existsSync(join(dist, `${entry}.js`)));

/** Loads the bundler, a development dependency that may be missing and is not needed if nothing changed. */
async function buildProgram() {
  const { rolldown } = await import('rolldown');
  const { withPlainSpreads } = await import('./spreads.mjs');
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(entries.map((entry) => [entry, `${entry}.ts`])),
    platform: 'node',
    external: (id) => !id.startsWith('.') && !isAbsolute(id),
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    onwarn: (warning) => {
      throw new Error(warning.message);
    },
  });
  const { output } = await bundle.generate({
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  });
  await bundle.close();
  // Entries are written last: a program that starts meanwhile finds all chunks of the entries that it reads.
  for (const { fileName, code } of output.toSorted((a, b) => Number(a.isEntry) - Number(b.isEntry))) {
    // npm makes the program executable on installation, which a later build must not undo.
    writeWhole(join(dist, fileName), withPlainSpreads(code), fileName === 'src/main.js' ? 0o755 : 0o644);
  }
}

function writeWhole(path, text, mode = 0o644) {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, text, { mode });
  renameSync(temporary, path);
}

async function buildTypes() {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  try {
    await promisify(execFile)(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', dist], {
      cwd: root,
    });
  } catch (error) {
    throw new Error(error.stdout || error.message);
  }
}

async function underLock(work) {
  mkdirSync(dirname(lock), { recursive: true });
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch {
      const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
      if (Date.now() - since > lockMs) rmSync(lock, { recursive: true, force: true });
      await setTimeout(20);
    }
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

async function run() {
  const ifChanged = flags['if-changed'] === true;
  if (ifChanged && isBuilt(fingerprint())) return;
  await underLock(async () => {
    const wanted = fingerprint();
    if (ifChanged && isBuilt(wanted)) return;
    if (ifChanged) await buildProgram();
    else {
      rmSync(dist, { recursive: true, force: true });
      await Promise.all([buildTypes(), buildProgram()]);
    }
    writeWhole(stamp, wanted);
  });
}

try {
  await run();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
