import { type ChildProcess, spawn } from 'node:child_process';
import { noLongerNeeded, onAbort } from '../../runtime/abort.js';
import { type Clock, systemClock } from '../../runtime/clock.js';
import { type Logger, silentLogger } from '../../runtime/logger.js';
import { splitLines } from './output-lines.js';
import type { ProcessSignerOptions } from './process-signer-options.js';

/** Thrown when the signer process cannot be reached or violates the protocol. Worth retrying. */
export class SignerProcessError extends Error {
  override readonly name = 'SignerProcessError';
  /** Marks a failure outside this process, which is logged without a stack. */
  readonly code = 'ERR_SIGNER_PROCESS';
}

const restart = { baseMs: 200, capMs: 30_000, quietMs: 60_000 };
const limits = { line: 4 * 1_024 * 1_024, logLine: 4_096 };
const stopAfterMs = 5_000;
/** The time for which output of a process is still read after its end. */
const unreadMs = 500;
export const defaultTimeoutMs = 20_000;

/** The response of a program. */
export type Answer = Readonly<Record<string, unknown>>;

interface Pending {
  settle(answer: Answer | Error): void;
}

/** The connection to a program, which is started when needed. */
export class ProcessLink {
  readonly #options: ProcessSignerOptions;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #pending = new Map<string, Pending>();
  readonly #waiting: (() => void)[] = [];
  #process: ChildProcess | undefined;
  #running = 0;
  #serial = 0;
  #failures = 0;
  #startedAt = Number.NEGATIVE_INFINITY;
  #heardAt = 0;
  #isStopping = false;

  constructor(options: ProcessSignerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#log = (options.log ?? silentLogger).child({ signer: options.serves });
  }

  /** Sends a request to the program. Rejects if it does not answer, or answers with an error. */
  async ask(body: object, signal: AbortSignal): Promise<Answer> {
    signal.throwIfAborted();
    await this.#waitForTurn(signal);
    try {
      return await this.#exchange(body, signal);
    } finally {
      this.#running--;
      this.#waiting.shift()?.();
    }
  }

  /** Stops the program, as the signer's `stop` does. */
  async stop(): Promise<void> {
    const child = this.#process;
    if (child === undefined) return;
    this.#isStopping = true;
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    child.stdin?.end();
    const finished = new AbortController();
    void this.#clock.sleep(stopAfterMs, finished.signal).then(() => {
      if (!finished.signal.aborted) endGroup(child);
    });
    await ended;
    finished.abort(noLongerNeeded);
    this.#isStopping = false;
    this.#failures = 0;
  }

  /** Waits until there are few enough requests in progress. */
  async #waitForTurn(signal: AbortSignal): Promise<void> {
    while (this.#running >= (this.#options.concurrency ?? 64)) {
      await new Promise<void>((resolve) => {
        const abort = (): void => {
          const at = this.#waiting.indexOf(proceed);
          if (at >= 0) this.#waiting.splice(at, 1);
          resolve();
        };
        const proceed = (): void => {
          signal.removeEventListener('abort', abort);
          resolve();
        };
        this.#waiting.push(proceed);
        signal.addEventListener('abort', abort, { once: true });
      });
      signal.throwIfAborted();
    }
    this.#running++;
  }

  async #exchange(body: object, signal: AbortSignal): Promise<Answer> {
    const child = this.#child();
    const id = String(++this.#serial);
    const { timeoutMs = defaultTimeoutMs } = this.#options;
    const finished = new AbortController();
    const answered = new Promise<Answer>((resolve, reject) => {
      const settle = (answer: Answer | Error): void => (answer instanceof Error ? reject(answer) : resolve(answer));
      this.#pending.set(id, { settle });
      const abort = (): void => {
        if (this.#pending.has(id)) this.#send(child, { cancel: id });
        reject(signal.reason);
      };
      onAbort(finished.signal, onAbort(signal, abort));
      void this.#clock.sleep(timeoutMs, finished.signal).then(() => {
        if (finished.signal.aborted) return;
        this.#send(child, { cancel: id });
        reject(new SignerProcessError(`no answer within ${timeoutMs} ms`));
        // A process without any output hangs.
        if (this.#clock.monotonic() - this.#heardAt >= timeoutMs) this.#kill(child, 'it does not answer');
      });
    });
    this.#send(child, { id, ...body });
    try {
      const answer = await answered;
      if (answer['error'] !== undefined)
        throw new SignerProcessError(`the signer reported: ${String(answer['error'])}`);
      return answer;
    } finally {
      finished.abort(noLongerNeeded);
      this.#pending.delete(id);
    }
  }

  #send(child: ChildProcess, message: object): void {
    if (child.stdin?.writable) child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #kill(child: ChildProcess, reason: string): void {
    this.#log.warn({ pid: child.pid, why: reason }, 'ending the signer process');
    endGroup(child);
  }

  /** Returns the running process, or starts one, but not more often than the back-off permits. */
  #child(): ChildProcess {
    if (this.#isStopping) throw new SignerProcessError('the signer is being stopped');
    if (this.#process !== undefined) return this.#process;
    const now = this.#clock.monotonic();
    const waitMs = this.#failures === 0 ? 0 : Math.min(restart.capMs, restart.baseMs * 2 ** (this.#failures - 1));
    const leftMs = this.#startedAt + waitMs - now;
    if (leftMs > 0) throw new SignerProcessError(`the signer process ended; restarting it in ${Math.ceil(leftMs)} ms`);
    this.#startedAt = now;
    this.#heardAt = now;
    const child = this.#spawn();
    this.#process = child;
    return child;
  }

  #spawn(): ChildProcess {
    const [program, ...args] = this.#options.command;
    const child = spawn(program, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
      env: this.#options.env ?? plainEnvironment(),
    });
    child.once('spawn', () => this.#log.info({ program, pid: child.pid }, 'started the signer process'));
    child.stdin?.on('error', (err) => this.#log.debug({ err }, 'the signer process closed its input'));
    let failure: Error | undefined;
    child.once('error', (error) => {
      failure = error;
      this.#gone(child, `cannot start ${program}: ${error.message}`);
    });
    const closed = new AbortController();
    child.once('exit', () => {
      endGroup(child);
      // A child process that left its group may keep the output open, which then never closes.
      void this.#clock.sleep(unreadMs, closed.signal).then(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      });
    });
    child.once('close', (code, signal) => {
      closed.abort(noLongerNeeded);
      if (failure === undefined) this.#gone(child, `ended with ${signal ?? `status ${code}`}`);
    });
    child.stdout?.on(
      'data',
      splitLines(limits.line, (line) => this.#take(child, line)),
    );
    child.stderr?.on(
      'data',
      splitLines(limits.logLine, (line) => this.#log.info({ line: line?.toString('utf8') ?? '…' }, 'signer process')),
    );
    return child;
  }

  #gone(child: ChildProcess, reason: string): void {
    if (this.#process !== child) return;
    this.#process = undefined;
    this.#failures = this.#clock.monotonic() - this.#startedAt > restart.quietMs ? 1 : this.#failures + 1;
    if (!this.#isStopping) this.#log.warn({ why: reason }, 'the signer process ended');
    for (const { settle } of [...this.#pending.values()])
      settle(new SignerProcessError(`the signer process ${reason}`));
    this.#pending.clear();
  }

  /** Handles a line of output; undefined for one that is too long. */
  #take(child: ChildProcess, line: Buffer | undefined): void {
    this.#heardAt = this.#clock.monotonic();
    const answer = line === undefined ? undefined : parse(line);
    const id = answer?.['id'];
    if (answer === undefined || typeof id !== 'string') {
      this.#kill(child, 'its output is not an answer');
      return;
    }
    // Late answers to cancelled requests are ignored.
    this.#pending.get(id)?.settle(answer);
    this.#pending.delete(id);
  }
}

/** Ends a process and all its child processes. */
function endGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group is empty, or the platform has no process groups.
    child.kill('SIGKILL');
  }
}

function parse(line: Buffer): Answer | undefined {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Answer) : undefined;
  } catch {
    return undefined;
  }
}

const passedOn = ['PATH', 'HOME', 'LANG', 'TMPDIR'] as const;

const plainEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(passedOn.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
