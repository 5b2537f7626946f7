import { spawn } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { build } from 'rolldown';

/** Bundles the program of a campaign and runs it with garbage collection on demand: run.mjs PROGRAM.ts ARGUMENTS. */

const root = resolve(import.meta.dirname, '../..');
const [program, ...args] = process.argv.slice(2);
const folder = join(root, 'node_modules/.fuzz', String(process.pid));
await build({
  cwd: root,
  input: program,
  platform: 'node',
  external: (id) => !id.startsWith('.') && !isAbsolute(id),
  resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
  logLevel: 'silent',
  output: {
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    sourcemap: true,
  },
});
cpSync(join(root, 'test/fuzz/corpus'), join(folder, 'corpus'), { recursive: true });
const child = spawn(process.execPath, ['--enable-source-maps', '--expose-gc', join(folder, 'main.js'), ...args], {
  stdio: 'inherit',
});
child.once('exit', (code) => {
  rmSync(folder, { recursive: true, force: true });
  process.exit(code ?? 1);
});
