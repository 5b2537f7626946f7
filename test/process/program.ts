import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { eventually } from '../../src/testing/until.js';
import { build, mainFile } from './build.js';

/** Programs as child processes: started, observed by their output, and stopped, each by its own process id. */

export interface Ended {
  /** null if a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A log line in JSON. */
type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string };

export interface Program {
  readonly stdout: string;
  readonly stderr: string;
  /** The log lines in JSON printed so far. */
  lines(): readonly LogLine[];
  /** Waits for a log line. Fails with the whole output if the program ends before. */
  logged(holds: (line: LogLine) => boolean, what: string): Promise<LogLine>;
  /** Waits for the output to match. */
  printed(pattern: RegExp): Promise<string>;
  /** Closes the output, so that further writes to it fail. */
  deafen(): void;
  kill(signal: NodeJS.Signals): void;
  /** Resolves when the program has ended. */
  readonly ended: Promise<Ended>;
  /** Sends SIGTERM and waits. */
  stop(): Promise<Ended>;
}

export interface ProgramOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Arguments of `ulimit` before `kedge` is started. */
  readonly ulimit?: string;
}

const running = new Set<ChildProcess>();
const killAll = (): void => {
  for (const child of running) child.kill('SIGKILL');
};
// Nothing outlives the test file that started it, whatever happens to a test: vitest may end a worker without an exit
// event.
afterAll(killAll);
process.once('exit', killAll);

/** Starts a program. */
export function start(command: string, args: readonly string[], { env = {}, cwd }: ProgramOptions = {}): Program {
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  });
  running.add(child);
  let stdout = '';
  let stderr = '';
  let over: Ended | undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<Ended>((done, fail) => {
    child.once('error', fail);
    child.once('close', (code, signal) => {
      running.delete(child);
      over = { code, signal, stdout, stderr };
      done(over);
    });
  });
  ended.catch(() => {});

  const lines = (): readonly LogLine[] => stdout.split('\n').slice(0, -1).flatMap(readLine);
  const wait = async <R>(look: () => R | undefined, what: string): Promise<R> => {
    const found = await eventually(look, (result) => result !== undefined || over !== undefined, {
      what: `${what} from ${[command, ...args].join(' ')}`,
    });
    const result = found ?? look();
    if (result === undefined) {
      throw new Error(`${what}: the program ended with ${over?.code ?? over?.signal}:\n${stderr}${stdout}`);
    }
    return result;
  };
  return {
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
    lines,
    logged: (holds, what) => wait(() => lines().find(holds), what),
    printed: (pattern) => wait(() => pattern.exec(stdout)?.[0], `output like ${pattern}`),
    deafen: () => void child.stdout.destroy(),
    kill: (signal) => void child.kill(signal),
    ended,
    async stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

function readLine(line: string): LogLine[] {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 'msg' in value ? [value as LogLine] : [];
  } catch {
    return [];
  }
}

/** Runs a program to its end. */
export const run = (command: string, args: readonly string[], options: ProgramOptions = {}): Promise<Ended> =>
  start(command, args, options).ended;

/** Starts `kedge` with these arguments. */
export async function startKedge(args: readonly string[], options: ProgramOptions = {}): Promise<Program> {
  await build();
  const { ulimit } = options;
  if (ulimit === undefined) return start(process.execPath, [mainFile, ...args], options);
  const limited = `ulimit ${ulimit} && exec "$0" "$@"`;
  return start('sh', ['-c', limited, process.execPath, mainFile, ...args], options);
}

/** Runs `kedge` with these arguments to its end. */
export const runKedge = async (args: readonly string[], options: ProgramOptions = {}): Promise<Ended> =>
  (await startKedge(args, options)).ended;

export interface ServerProgram extends Program {
  readonly url: string;
  /** The path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
}

/** Starts `kedge serve` on a free port with a data directory; resolves once it is ready. */
export async function startServer(
  dataDir: string,
  args: readonly string[] = [],
  options: ProgramOptions = {},
): Promise<ServerProgram> {
  const defaults = ['--data-dir', dataDir, '--log-format', 'json'];
  const port = args.includes('--port') ? [] : ['--port', '0'];
  const program = await startKedge(['serve', ...port, ...defaults, ...args], options);
  const { url } = await program.logged(({ msg }) => msg === 'ready', 'the line "ready"');
  return Object.assign(program, { url: String(url), kubeconfig: join(dataDir, 'admin.kubeconfig') });
}

/** Returns a directory that is removed after all tests. */
export const temporaryDirectory = (): string =>
  mkdtempSync(join(process.env['KEDGE_TEST_FOLDER'] ?? tmpdir(), 'data-'));
