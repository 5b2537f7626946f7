import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import { ServiceAccounts } from '../../src/api/kinds/service-account.js';
import type { Client } from '../../src/client/client.js';
import { connect } from '../../src/client/remote-client.js';
import { until } from '../../src/testing/until.js';
import { startServer, temporaryDirectory } from './program.js';

/** Returns an environment in which signals cause uncaught errors. */
function withFaults(directory: string): { readonly env: NodeJS.ProcessEnv } {
  const file = join(directory, 'faults.mjs');
  writeFileSync(
    file,
    `process.on('SIGUSR2', () => void Promise.reject(new Error('nobody waits for this')));
process.on('SIGHUP', () => { throw new Error('nobody expects this'); });\n`,
  );
  return { env: { NODE_OPTIONS: `--import=${pathToFileURL(file).href}` } };
}

test('an unhandled rejection is logged; an uncaught exception is logged and stops the server in order', async () => {
  const directory = temporaryDirectory();
  const server = await startServer(directory, [], withFaults(directory));
  server.kill('SIGUSR2');
  const rejection = await server.logged(({ msg }) => msg === 'unhandled rejection', 'the rejection');
  expect(rejection).toMatchObject({ level: 'error', err: { message: 'nobody waits for this' } });
  server.kill('SIGHUP');
  await server.logged(({ msg }) => msg === 'uncaught exception', 'the exception');
  await server.logged(({ msg }) => msg === 'stopped', 'the end');
  const { code, stderr } = await server.ended;
  expect(code).toBe(1);
  expect(stderr).toBe('kedge: stopped after a fault: nobody expects this\n');
});

/** Writes so much that LevelDB starts another file. */
async function writeMuch(client: Client): Promise<void> {
  const data = { text: 'x'.repeat(1_000_000) };
  for (let count = 0; count < 20; count++) {
    const metadata = { namespace: 'default', name: `large-${count}` };
    await client.resource(ConfigMaps).create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
  }
}

test.skipIf(process.platform !== 'linux')(
  'connections of strangers do not use up the files that the store needs',
  async () => {
    const server = await startServer(temporaryDirectory(), [], { ulimit: '-n 200' });
    const client = await connect({ kubeconfig: server.kubeconfig });
    await client.resource(Namespaces).list();
    const strangers = Array.from({ length: 200 }, () =>
      connectTcp(Number(new URL(server.url).port), '127.0.0.1').on('error', () => {}),
    );
    await server.logged(({ msg }) => msg.startsWith('connections are refused'), 'the refusal');
    await writeMuch(client);
    for (const stranger of strangers) stranger.destroy();
    client.close();
    expect(await server.stop()).toMatchObject({ code: 0, stderr: '' });
  },
);

test('a server whose store can no longer write exits, to be restarted', async () => {
  const directory = temporaryDirectory();
  const server = await startServer(directory);
  const client = await connect({ kubeconfig: server.kubeconfig });
  rmSync(join(directory, 'store'), { recursive: true });
  await writeMuch(client).catch(() => {});
  client.close();
  const { code, stderr } = await server.ended;
  expect(code).toBe(1);
  expect(stderr).toBe('kedge: stopped after a fault: the store could not write and was closed\n');
});

test('a server whose output is not read goes on', async () => {
  const server = await startServer(temporaryDirectory(), ['--log-level', 'debug']);
  server.deafen();
  const client = await connect({ kubeconfig: server.kubeconfig });
  const namespaces = client.resource(Namespaces);
  for (const name of ['a', 'b']) {
    await namespaces.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await until(client.resource(ServiceAccounts), { namespace: name, name: 'default' }, (account) => !!account);
  }
  client.close();
  expect(await server.stop()).toMatchObject({ code: 0, stderr: '' });
});

test('the audit log is written to its file completely', async () => {
  const directory = temporaryDirectory();
  const [policyFile, logFile, config] = ['policy.yaml', 'logs/audit.log', 'server.yaml'].map((name) =>
    join(directory, name),
  ) as [string, string, string];
  const policy = 'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules:';
  writeFileSync(policyFile, `${policy}\n- {level: Metadata, verbs: [create]}\n`);
  writeFileSync(config, `audit: { policyFile: ${policyFile}, logFile: ${logFile} }\n`);
  const server = await startServer(directory, ['--config', config]);
  expect((await server.stop()).code).toBe(0);
  const events = readFileSync(logFile, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(events.length).toBeGreaterThan(10);
  expect(new Set(events.map(({ verb, stage }) => `${verb} ${stage}`))).toEqual(new Set(['create ResponseComplete']));

  writeFileSync(policyFile, `${policy}\n- {level: None}\n`);
  const again = await startServer(directory, ['--config', config]);
  const { length } = readFileSync(logFile);
  writeFileSync(policyFile, `${policy}\n- {level: Everything}\n`);
  await again.logged(({ msg }) => msg === 'still using the previous contents', 'the wrong policy');
  expect((await again.stop()).code).toBe(0);
  expect(readFileSync(logFile).length).toBe(length);
});

test.skipIf(process.platform !== 'linux')(
  'audit events that do not fit on the disk are dropped as a whole',
  async () => {
    const directory = temporaryDirectory();
    const [policyFile, logFile, config, ignore] = ['policy.yaml', 'audit.log', 'server.yaml', 'ignore.mjs'].map(
      (name) => join(directory, name),
    ) as [string, string, string, string];
    writeFileSync(policyFile, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n');
    writeFileSync(config, `audit: { policyFile: ${policyFile}, logFile: ${logFile} }\nstore: 'memory:'\n`);
    // Beyond the limit on file sizes, writing fails, and the signal for it would end the program.
    writeFileSync(ignore, "process.on('SIGXFSZ', () => {});\n");
    const server = await startServer(directory, ['--config', config], {
      env: { NODE_OPTIONS: `--import=${pathToFileURL(ignore).href}` },
      ulimit: '-f 64',
    });
    const { lost } = await server.logged(({ msg }) => msg === 'audit events were lost', 'the loss');
    expect(lost).toBeGreaterThan(0);
    await server.stop();
    const lines = readFileSync(logFile, 'utf8').split('\n');
    expect(lines.pop()).toBe('');
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ kind: 'Event' });
  },
);
