import { execFile } from 'node:child_process';
import { isAbsolute, join, resolve } from 'node:path';
import { build as bundle } from 'rolldown';

/** The program as it is started outside of tests: bundled JavaScript, brought up to date first. */

export const root = resolve(import.meta.dirname, '../..');
export const mainFile = join(root, 'dist/src/main.js');

let built: Promise<void> | undefined;

/** Builds what has changed since the last build. Several test files may call it at the same time. */
export function build(): Promise<void> {
  built ??= new Promise((done, fail) => {
    const script = join(root, 'scripts/build.mjs');
    execFile(process.execPath, [script, '--if-changed'], { cwd: root }, (error, _, complaint) => {
      if (error === null) done();
      else fail(new Error(`the program cannot be built:\n${complaint}`));
    });
  });
  return built;
}

/**
 * Bundles a program of `examples` and returns the path of its JavaScript; it finds `kedge` as an installed package
 * does.
 */
export async function buildExample(file: string): Promise<string> {
  await build();
  const program = join(root, 'examples/dist', file.replace(/\.ts$/, '.js'));
  await bundle({
    cwd: root,
    input: join('examples', file),
    platform: 'node',
    external: (id) => !id.startsWith('.') && !isAbsolute(id),
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    logLevel: 'silent',
    output: { file: program, format: 'esm', codeSplitting: false },
  });
  return program;
}
