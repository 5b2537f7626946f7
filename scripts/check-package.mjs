#!/usr/bin/env node
/**
 * Checks the real package, as `test/package.test.ts` does without a network: packs it, installs it with its
 * dependencies into an empty project, starts its program through npx, and runs two linters for packages.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const project = mkdtempSync(join(tmpdir(), 'kedge-package-'));
const run = (command, args, cwd) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

/** Starts the installed program and waits for the line that says it is ready. */
function serves() {
  const args = ['kedge', 'serve', '--port', '0', '--data-dir', join(project, 'data'), '--log-format', 'json'];
  const child = spawn('npx', args, { cwd: project, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  return new Promise((done, fail) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      if (!text.includes('"msg":"ready"')) return;
      // npx starts the program as its child: both are in one process group.
      process.kill(-child.pid, 'SIGTERM');
      done();
    });
    child.once('exit', () => fail(new Error(`the program ended before it was ready: ${text}`)));
  });
}

try {
  const [{ filename }] = JSON.parse(
    run('npm', ['pack', '--json', '--loglevel=error', '--pack-destination', project], root),
  );
  const tarball = join(project, filename);
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  run('npm', ['install', '--engine-strict', '--no-audit', '--no-fund', '--loglevel=error', tarball], project);
  await serves();
  const program = "await Promise.all(['kedge', 'kedge/testing', 'kedge/controllers'].map((name) => import(name)))";
  run(process.execPath, ['--input-type=module', '--eval', program], project);
  run('npx', ['--yes', 'publint', '--strict', tarball], project);
  run('npx', ['--yes', '@arethetypeswrong/cli', '--profile', 'esm-only', tarball], project);
  process.stdout.write('the package installs, starts, and has nothing that linters of packages find\n');
} finally {
  rmSync(project, { recursive: true, force: true, maxRetries: 5 });
}
