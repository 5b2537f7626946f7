import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'vitest';

/** Building the programs of other languages: kept between runs, skipped aloud where it cannot be done. */

/** Why a program is not to be had here. Its test is skipped and says so. */
class Missing extends Error {
  override readonly name = 'Missing';
}

/** Set to `all` to run sessions that take minutes to build, too. */
const allClients = process.env['KEDGE_TEST_CLIENTS'] === 'all';

export interface BuildOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a command of a toolchain. Throws with what it printed. */
export const command = (program: string, args: readonly string[], { cwd, env }: BuildOptions): Promise<void> =>
  new Promise((done, fail) => {
    execFile(program, args, { cwd, env: { ...process.env, ...env }, maxBuffer: 1e8 }, (error, stdout, stderr) => {
      if (error === null) done();
      else fail(new Error(`${[program, ...args].join(' ')}: ${error.message}\n${stderr}${stdout}`, { cause: error }));
    });
  });

/** Like `command`, for what needs a toolchain or the network: a failure says that they are missing. */
export async function download(program: string, args: readonly string[], options: BuildOptions): Promise<void> {
  try {
    await command(program, args, options);
  } catch (error) {
    throw new Missing(error instanceof Error ? error.message.split('\n').slice(0, 3).join(' ') : String(error));
  }
}

export interface Recipe {
  /** Files among the sources that name what is downloaded; as long as they stay the same, nothing is downloaded again. */
  readonly locks: readonly string[];
  readonly download?: (folder: string) => Promise<void>;
  readonly compile?: (folder: string) => Promise<void>;
}

/** A copy of a folder of sources, with what they need downloaded and the program built. Kept between runs. */
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

/** What `get` finds; a test whose program is missing is skipped and says why. */
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
