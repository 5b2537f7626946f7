import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whether there is an `etcd` to test with. */
export const etcdInstalled = spawnSync('etcd', ['--version'], { stdio: 'ignore' }).status === 0;

/** An etcd of one member with a directory of its own, which `stop` removes. */
export interface EtcdProcess {
  /** `HOST:PORT` */
  readonly endpoint: string;
  /** Kills it in the middle of whatever it does; `start` goes on with its data. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Copies its data, while it is killed. Answers how to put them back, at another such time. */
  backUp(): () => void;
  stop(): Promise<void>;
}

export async function startEtcd(): Promise<EtcdProcess> {
  const directory = mkdtempSync(join(tmpdir(), 'etcd-'));
  const [client, peer] = [await freePort(), await freePort()];
  const endpoint = `127.0.0.1:${client}`;
  const flags = {
    'data-dir': join(directory, 'data'),
    'listen-client-urls': `http://${endpoint}`,
    'advertise-client-urls': `http://${endpoint}`,
    'listen-peer-urls': `http://127.0.0.1:${peer}`,
    'initial-advertise-peer-urls': `http://127.0.0.1:${peer}`,
    'initial-cluster': `default=http://127.0.0.1:${peer}`,
    'log-level': 'error',
  };
  let child: ChildProcess;
  const start = async (): Promise<void> => {
    child = spawn(
      'etcd',
      Object.entries(flags).map(([name, value]) => `--${name}=${value}`),
      { stdio: 'ignore' },
    );
    while (!(await healthy(endpoint))) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const kill = async (): Promise<void> => {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  await start();
  return {
    endpoint,
    kill,
    start,
    backUp() {
      const copy = join(directory, 'copy');
      cpSync(flags['data-dir'], copy, { recursive: true });
      return () => {
        rmSync(flags['data-dir'], { recursive: true });
        cpSync(copy, flags['data-dir'], { recursive: true });
      };
    },
    async stop() {
      await kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function healthy(endpoint: string): Promise<boolean> {
  try {
    return (await fetch(`http://${endpoint}/health`)).ok;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
