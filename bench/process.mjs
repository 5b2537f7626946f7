import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Programs under measurement, each in its own process. */

const ticksPerSecond = 100;

/** Returns the CPU time (user and system) of a process in milliseconds; zero if the kernel does not report it. */
export function cpuMilliseconds(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1_000) / ticksPerSecond;
  } catch {
    return 0;
  }
}

/** Returns the resident memory of a process in megabytes. */
export function residentMegabytes(pid) {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1_024;
  } catch {
    return Number.NaN;
  }
}

/** Flags for the programs under measurement, for example `--cpu-prof --cpu-prof-dir=DIRECTORY`. */
const nodeFlags = process.env['BENCH_NODE_FLAGS']?.split(' ') ?? [];

/** Starts a Node.js program; resolves with the JSON of the first line for which `isReady` holds. */
export function startProgram(args, isReady) {
  const began = performance.now();
  const child = spawn(process.execPath, [...nodeFlags, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  ended.then(() => process.off('exit', kill));
  return new Promise((resolve, reject) => {
    let text = '';
    let found = false;
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      if (found) return;
      text += chunk;
      for (const line of text.split('\n').slice(0, -1)) {
        const value = JSON.parse(line);
        if (!isReady(value)) continue;
        found = true;
        const program = {
          pid: child.pid,
          line: value,
          readyMs: performance.now() - began,
          cpuMs: cpuMilliseconds(child.pid),
          megabytes: residentMegabytes(child.pid),
          stop: async () => {
            child.kill('SIGTERM');
            await ended;
          },
        };
        resolve(program);
        return;
      }
    });
    child.once('exit', (code) => reject(new Error(`the program ended with ${code}: ${text}`)));
  });
}
