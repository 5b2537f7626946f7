import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../free-port.js';

/** Whether `etcd` is installed. */
export const etcdInstalled = spawnSync('etcd', ['--version'], { stdio: 'ignore' }).status === 0;

/** An etcd of one member with its own directory, which `stop` removes. */
export interface EtcdProcess {
  /** `HOST:PORT` */
  readonly endpoint: string;
  /** Kills it without warning; `start` continues with its data. */
  kill(): Promise<void>;
  /** Starts it, with TLS if files for that are given: then callers must present a certificate of the same CA. */
  start(tls?: EtcdTlsFiles): Promise<void>;
  /** Enables authentication, with an administrator and these users, who may do everything below their prefixes. */
  authenticate(users: Readonly<Record<string, { readonly password: string; readonly prefix: string }>>): Promise<void>;
  /** Copies its data, while it is stopped. Returns a function that restores them, while it is stopped again. */
  backUp(): () => void;
  stop(): Promise<void>;
}

export interface EtcdTlsFiles {
  readonly caFile: string;
  readonly certificateFile: string;
  readonly keyFile: string;
}

export async function startEtcd(): Promise<EtcdProcess> {
  const directory = mkdtempSync(join(tmpdir(), 'etcd-'));
  const [client, peer, metrics] = [await freePort(), await freePort(), await freePort()];
  const endpoint = `127.0.0.1:${client}`;
  const flags = {
    'data-dir': join(directory, 'data'),
    'listen-metrics-urls': `http://127.0.0.1:${metrics}`,
    'listen-peer-urls': `http://127.0.0.1:${peer}`,
    'initial-advertise-peer-urls': `http://127.0.0.1:${peer}`,
    'initial-cluster': `default=http://127.0.0.1:${peer}`,
    'log-level': 'error',
  };
  let child: ChildProcess;
  const start = async (tls?: EtcdTlsFiles): Promise<void> => {
    const url = `${tls === undefined ? 'http' : 'https'}://${endpoint}`;
    const all = {
      ...flags,
      'listen-client-urls': url,
      'advertise-client-urls': url,
      ...(tls === undefined ? {} : tlsFlags(tls)),
    };
    child = spawn(
      'etcd',
      Object.entries(all).map(([name, value]) => `--${name}=${value}`),
      { stdio: 'ignore' },
    );
    while (!(await healthy(`127.0.0.1:${metrics}`))) await new Promise((resolve) => setTimeout(resolve, 20));
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
    async authenticate(users) {
      const ask = async (path: string, body: object): Promise<void> => {
        const answer = await fetch(`http://${endpoint}/v3/auth/${path}`, {
          method: 'POST',
          body: JSON.stringify(body),
        });
        if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
      };
      const add = async (user: string, password: string): Promise<void> => {
        await ask('user/add', { name: user, password });
        await ask('role/add', { name: user });
        await ask('user/grant', { user, role: user });
      };
      await add('root', 'root');
      for (const [name, { password, prefix }] of Object.entries(users)) {
        await add(name, password);
        const [key, end] = [`${prefix}/`, `${prefix}0`].map((text) => Buffer.from(text).toString('base64'));
        await ask('role/grant', { name, perm: { permType: 'READWRITE', key, range_end: end } });
      }
      await ask('enable', {});
    },
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

const tlsFlags = ({ caFile, certificateFile, keyFile }: EtcdTlsFiles): Readonly<Record<string, string>> => ({
  'trusted-ca-file': caFile,
  'cert-file': certificateFile,
  'key-file': keyFile,
  'client-cert-auth': 'true',
});

async function healthy(endpoint: string): Promise<boolean> {
  try {
    return (await fetch(`http://${endpoint}/health`)).ok;
  } catch {
    return false;
  }
}
