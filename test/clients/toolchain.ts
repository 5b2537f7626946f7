import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'vitest';

/**
 * Builds programs in other languages. Builds are kept between runs, and skipped with a reason where they are not
 * possible.
 */

/** Why a program cannot be built here. Its test is skipped with this reason. */
class Missing extends Error {
  override readonly name = 'Missing';
}

/** Set to `all` to also run sessions that take minutes to build. */
const allClients = process.env['KEDGE_TEST_CLIENTS'] === 'all';

export interface BuildOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a command of a toolchain. Throws an error with its output. */
export const command = (program: string, args: readonly string[], { cwd, env }: BuildOptions): Promise<void> =>
  new Promise((done, fail) => {
    execFile(program, args, { cwd, env: { ...process.env, ...env }, maxBuffer: 1e8 }, (error, stdout, stderr) => {
      if (error === null) done();
      else fail(new Error(`${[program, ...args].join(' ')}: ${error.message}\n${stderr}${stdout}`, { cause: error }));
    });
  });

/** Like `command`, for commands that need a toolchain or the network: a failure counts as their absence. */
export async function download(program: string, args: readonly string[], options: BuildOptions): Promise<void> {
  try {
    await command(program, args, options);
  } catch (error) {
    throw new Missing(error instanceof Error ? error.message.split('\n').slice(0, 3).join(' ') : String(error));
  }
}

export interface Recipe {
  /**
   * The files among the sources that list the dependencies; as long as they are unchanged, nothing is downloaded again.
   */
  readonly locks: readonly string[];
  readonly download?: (folder: string) => Promise<void>;
  readonly compile?: (folder: string) => Promise<void>;
}

/** Copies a folder of sources, downloads the dependencies and builds the program. The copy is kept between runs. */
export async function prepared(sources: string, { locks, download, compile }: Recipe): Promise<string> {
  const digest = createHash('sha256').update(sources);
  for (const lock of locks) digest.update(readFileSync(join(sources, lock)));
  const parent = join(tmpdir(), `kedge-clients-${userInfo().uid}`);
  const folder = join(parent, digest.digest('hex').slice(0, 16));
  const downloaded = join(folder, '.downloaded');
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  if (!existsSync(downloaded)) rmSync(folder, { recursive: true, force: true });
  cpSync(sources, folder, { recursive: true });
  if (!existsSync(downloaded)) {
    await download?.(folder);
    writeFileSync(downloaded, '');
  }
  await compile?.(folder);
  return folder;
}

/** Returns the result of `get`; skips the test, with the reason, if its program is missing. */
export async function orSkip<T>(context: TestContext, get: () => Promise<T>): Promise<T> {
  try {
    return await get();
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    return skip(context, error.message);
  }
}

/** Skips a test that takes minutes to build unless all are wanted. */
export function unlessAll(context: TestContext): void {
  if (!allClients) skip(context, 'takes minutes to build: set KEDGE_TEST_CLIENTS=all');
}

function skip(context: TestContext, why: string): never {
  console.warn(`SKIPPED ${context.task.name}: ${why}`);
  return context.skip(why);
}
