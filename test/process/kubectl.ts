import { readdirSync, realpathSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { type Ended, type Program, run, start, temporaryDirectory } from './program.js';

/** The kubectl programs of this machine: one per version that the story runs with, or the only one installed. */

const wantedVersions = ['1.27', '1.30', '1.32', '1.33'];

export interface KubectlProgram {
  readonly path: string;
  /** `1.33`, or `?` if its name does not contain it. */
  readonly version: string;
}

export function findKubectls(): readonly KubectlProgram[] {
  const found = (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => {
      try {
        return [realpathSync(join(folder, 'kubectl'))];
      } catch {
        return [];
      }
    })
    .at(0);
  if (found === undefined) return [];
  const folder = dirname(found);
  const versions = readdirSync(folder).flatMap((file) => {
    const [, version] = /^kubectl\.(\d+\.\d+)$/.exec(basename(file)) ?? [];
    return version !== undefined && wantedVersions.includes(version) ? [{ path: join(folder, file), version }] : [];
  });
  return versions.length > 0 ? versions : [{ path: found, version: '?' }];
}

export interface Kubectl {
  /** Returns its output. Fails with its error output. */
  (...args: readonly string[]): Promise<string>;
  /** Returns the outcome, whether it succeeds or not. */
  attempt(...args: readonly string[]): Promise<Ended>;
  /** Starts a command that runs until it is stopped. */
  start(...args: readonly string[]): Program;
  /** Returns the same program with another kubeconfig. */
  with(kubeconfig: string): Kubectl;
}

const home = temporaryDirectory();

export function kubectl({ path }: KubectlProgram, kubeconfig: string): Kubectl {
  const options = { env: { KUBECONFIG: kubeconfig, HOME: home } };
  const attempt = (...args: readonly string[]): Promise<Ended> => run(path, args, options);
  const call = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await attempt(...args);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}:\n${stderr}${stdout}`);
    return stdout;
  };
  return Object.assign(call, {
    attempt,
    start: (...args: readonly string[]) => start(path, args, options),
    with: (other: string) => kubectl({ path, version: '' }, other),
  });
}
