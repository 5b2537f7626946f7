import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { createServer, type Server } from '../../src/embed.js';
import { temporaryDirectory } from '../process/program.js';

/** Runs a session: a program in some language that uses the API through the official client of that language. */

export interface SessionProgram {
  readonly command: string;
  readonly args?: readonly string[];
  /** The namespace it works in; objects in it change while the server is down. */
  readonly namespace: string;
}

/**
 * Returns the steps that succeeded, in order. The program prints `ok <step>` for each, and `restart` to have the server
 * stopped and started again on the same port and data; in between, one object is created and one deleted. Fails with
 * the program's error output.
 */
export async function session({ command, args = [], namespace }: SessionProgram): Promise<readonly string[]> {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'home'));
  const kubeconfig = join(directory, 'kubeconfig');
  const options = {
    store: `level:${join(directory, 'store')}`,
    dataDir: join(directory, 'pki'),
    graceMs: 2_000,
  };
  let server = await createServer({ ...options, listen: {} });
  const port = Number(new URL(server.url ?? '').port);
  writeFileSync(kubeconfig, server.adminKubeconfig, { mode: 0o600 });

  const restart = async (): Promise<Server> => {
    await server.stop();
    const away = await createServer({ ...options, controllers: [] });
    const maps = away.client().resource(ConfigMaps);
    await maps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'made-while-away', namespace } });
    await maps.delete({ namespace, name: 'gone-while-away' }).catch(() => {});
    await away.stop();
    return createServer({ ...options, listen: { port } });
  };

  const child = spawn(command, args, {
    env: { ...process.env, KUBECONFIG: kubeconfig, HOME: join(directory, 'home') },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const held: string[] = [];
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-20_000);
  });
  let restarting: Promise<void> = Promise.resolve();
  createInterface(child.stdout).on('line', (line) => {
    if (line.startsWith('ok ')) held.push(line.slice(3));
    else if (line === 'restart') {
      restarting = restart().then(
        (next) => {
          server = next;
          child.stdin.write('restarted\n');
        },
        (error: unknown) => {
          complaint += `\nthe server cannot be restarted: ${error instanceof Error ? error.stack : String(error)}`;
          child.kill();
        },
      );
    }
  });
  try {
    const code = await new Promise<number | null>((done, fail) => {
      child.once('error', fail);
      child.once('close', done);
    });
    if (code !== 0) throw new Error(`ended with ${code} after ${held.join(', ') || 'nothing'}:\n${complaint}`);
    return held;
  } finally {
    child.kill('SIGKILL');
    await restarting;
    await server.stop();
  }
}
