import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CertificateSigningRequests } from '../../src/api/kinds/certificate-signing-request.js';
import { type ConfigMap, ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import { SelfSubjectReviews } from '../../src/api/kinds/self-subject-review.js';
import { ServiceAccounts } from '../../src/api/kinds/service-account.js';
import type { TokenRequest } from '../../src/api/kinds/token-request.js';
import type { WatchEvent } from '../../src/client/client.js';
import { domainClient } from '../../src/client/domain-client.js';
import { connect, type RemoteClient } from '../../src/client/remote-client.js';
import { testSigningRequest } from '../../src/testing/certificates.js';
import { eventually, until } from '../../src/testing/until.js';
import { freePort } from '../free-port.js';
import { type Ended, type ServerProgram, startKedge, startServer, temporaryDirectory } from './program.js';

/** `kedge serve` as a program: its flags, its output, how it stops, and what it keeps across restarts. */

const configMap = (name: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'default', name },
  data: { name },
});

async function withServer<R>(
  dataDir: string,
  args: readonly string[],
  use: (client: RemoteClient, server: ServerProgram) => Promise<R>,
): Promise<R> {
  const server = await startServer(dataDir, args);
  const client = await connect({ kubeconfig: server.kubeconfig });
  try {
    return await use(client, server);
  } finally {
    client.close();
    await server.stop();
  }
}

describe('start', () => {
  test('writes the complete kubeconfig before "ready", readable by its owner only', async () => {
    const dataDir = temporaryDirectory();
    let seen = '';
    const server = await startKedge(['serve', '--port', '0', '--data-dir', dataDir, '--log-format', 'json']);
    await server.logged(({ msg }) => {
      if (msg === 'ready') seen = readFileSync(join(dataDir, 'admin.kubeconfig'), 'utf8');
      return msg === 'ready';
    }, 'ready');
    const [first] = server.lines();
    expect(first).toMatchObject({ level: 'info', msg: 'ready', kubeconfig: join(dataDir, 'admin.kubeconfig') });
    expect(seen).toContain(`server: ${String(first?.['url'])}\n`);
    expect(Buffer.from(/client-key-data: (\S+)/.exec(seen)?.[1] ?? '', 'base64').toString()).toMatch(
      /^-----BEGIN EC PRIVATE KEY-----/,
    );
    for (const field of ['certificate-authority-data', 'client-certificate-data', 'client-key-data']) {
      expect(seen).toMatch(new RegExp(`${field}: [A-Za-z0-9+/]+=*\\n`));
    }
    expect(statSync(join(dataDir, 'admin.kubeconfig')).mode & 0o777).toBe(0o600);
    await server.stop();
  });

  test('tells where the server is, how to connect and what to try, and then logs reconciliations', async () => {
    const dataDir = join(temporaryDirectory(), 'my dir');
    const server = await startKedge(['serve', '--port', '0', '--data-dir', dataDir, '--log-format', 'pretty']);
    await server.printed(/reconciled .*\n/);
    const [address, setting, ...rest] = server.stdout.split('\n').filter((line) => line.trim() !== '');
    expect(address).toMatch(/https:\/\/127\.0\.0\.1:\d+$/);
    expect(setting?.trim()).toBe(`export KUBECONFIG='${join(dataDir, 'admin.kubeconfig')}'`);
    expect(rest.slice(1, 4).map((line) => line.trim().split(' ')[0])).toEqual(['kubectl', 'kubectl', 'kubectl']);
    expect(rest[4]).toMatch(/ready url=/);
    const line = rest.find((text) => text.includes('reconciled'));
    expect(line).toMatch(/controller=\S+ object=\S+ cause=.* attempt=1 durationMs=\d+ result=\w+/);
    await server.stop();
  });

  test('accepts --port, --host, --store and --log-level', async () => {
    const dataDir = temporaryDirectory();
    const port = await freePort();
    const args = ['--port', String(port), '--host', 'localhost', '--store', 'memory:', '--log-level', 'warn'];
    const server = await startKedge(['serve', '--data-dir', dataDir, '--log-format', 'json', ...args]);
    const kubeconfig = join(dataDir, 'admin.kubeconfig');
    await eventually(
      () => existsSync(kubeconfig),
      (there) => there,
      { what: 'admin.kubeconfig' },
    );
    expect(readFileSync(kubeconfig, 'utf8')).toContain(`server: https://localhost:${port}\n`);
    const client = await connect({ kubeconfig });
    expect(await client.resource(Namespaces).get({ name: 'default' })).toBeDefined();
    client.close();
    expect(await server.stop()).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect(existsSync(join(dataDir, 'store'))).toBe(false);
  });

  test('accepts --config, overridden by flags, and other domains', async () => {
    const dataDir = temporaryDirectory();
    const config = join(dataDir, 'kedge.yaml');
    const domains = { api: 'api.example', signer: 'signer.example', extensions: [] };
    writeFileSync(config, `port: 1\nstore: 'memory:'\ndomains: {api: ${domains.api}, signer: ${domains.signer}}\n`);
    await withServer(dataDir, ['--config', config], async (client) => {
      const groups = new Set((await client.discover()).map(({ group }) => group));
      expect(groups).toContain('certificates.api.example');
      expect([...groups].filter((group) => group.endsWith('k8s.io'))).toEqual([]);
      const requests = domainClient(domains, client).resource(CertificateSigningRequests);
      const [commonName, organizations] = ['system:node:n', ['system:nodes']];
      const signerName = 'signer.example/kube-apiserver-client-kubelet';
      await requests.create(await testSigningRequest({ name: 'n', signerName, commonName, organizations }));
      const csr = await until(requests, { name: 'n' }, (found) => found?.status?.certificate !== undefined);
      expect(csr).toMatchObject({
        apiVersion: 'certificates.api.example/v1',
        status: { conditions: [{ type: 'Approved', reason: 'AutoApproved' }] },
      });
    });
  });

  test("runs no controllers with --controllers ''", async () => {
    await withServer(temporaryDirectory(), ['--store', 'memory:', '--controllers', ''], async (client, server) => {
      const created = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'quiet' } };
      await client.resource(Namespaces).create(created);
      const { stdout } = await server.stop();
      expect(stdout).not.toContain('reconciled');
    });
  });
});

describe('stop', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('on %s ends watches cleanly and exits with 0', async (signal) => {
    const server = await startServer(temporaryDirectory(), ['--store', 'memory:']);
    const client = await connect({ kubeconfig: server.kubeconfig });
    const seen: WatchEvent<ConfigMap>[] = [];
    const watch = new Promise<string>((done) => {
      client
        .resource(ConfigMaps)
        .watch({ namespace: 'default' })
        .subscribe({
          next: (event) => seen.push(event),
          error: (error: unknown) => done(`failed: ${String(error)}`),
          complete: () => done('ended'),
        });
    });
    await client.resource(ConfigMaps).create(configMap('seen'));
    await eventually(
      () => seen.some((event) => event.type === 'ADDED' && event.object.metadata.name === 'seen'),
      (there) => there,
    );
    server.kill(signal);
    expect(await watch).toBe('ended');
    expect(await server.ended).toMatchObject({ code: 0, signal: null, stderr: '' });
    expect(server.lines().at(-1)?.msg).toBe('stopped');
    client.close();
  });

  test('is cut short by a second signal of either kind, but not by an echo of the first', async () => {
    const dataDir = temporaryDirectory();
    const config = join(dataDir, 'options.yaml');
    writeFileSync(config, 'shutdownDelayMs: 60000\n');
    const server = await startServer(dataDir, ['--store', 'memory:', '--config', config]);
    server.kill('SIGINT');
    server.kill('SIGINT');
    await server.logged(({ msg }) => msg === 'stopping', 'that it stops');
    let ended: Ended | undefined;
    void server.ended.then((end) => (ended = end));
    expect(ended).toBeUndefined();
    await eventually(
      () => {
        server.kill('SIGTERM');
        return ended !== undefined;
      },
      (over) => over,
    );
    expect(ended).toMatchObject({ code: null, signal: 'SIGTERM' });
  });
});

test('a restart finds every object, the same CA and the same keys', async () => {
  const dataDir = temporaryDirectory();
  const keys = ['ca.pem', 'ca.crt', 'apiserver.crt', 'admin.crt', 'sa.key'];
  const read = (): readonly string[] => keys.map((name) => readFileSync(join(dataDir, 'pki', name), 'utf8'));
  const everything = async (client: RemoteClient): Promise<ReadonlyMap<string, unknown>> => {
    const stored = (await client.discover()).filter(({ verbs }) => verbs.includes('list'));
    const lists = await Promise.all(stored.map(async (type) => (await client.resource(type).list()).items));
    return new Map(lists.flat().map((object) => [object.metadata.uid ?? '', object]));
  };
  const first = await withServer(dataDir, [], async (client) => {
    await client.resource(ConfigMaps).create(configMap('kept'));
    await until(
      client.resource(ConfigMaps),
      { namespace: 'kube-node-lease', name: 'kube-root-ca.crt' },
      (map) => !!map,
    );
    await until(client.resource(ServiceAccounts), { namespace: 'default', name: 'default' }, (account) => !!account);
    const token = await client
      .resource(ServiceAccounts)
      .subresource<TokenRequest>('token')
      .create(
        { namespace: 'default', name: 'default' },
        { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: {} },
      );
    return { objects: await everything(client), keys: read(), token };
  });
  await withServer(dataDir, [], async (client, { url }) => {
    const objects = await everything(client);
    for (const [uid, object] of first.objects) expect(objects.get(uid)).toEqual(object);
    expect(read()).toEqual(first.keys);
    const review = await fetchAs(client, url, first.token.status?.token ?? '');
    expect(review).toBe('system:serviceaccount:default:default');
  });
});

/** Returns the name of the user of a token. */
async function fetchAs({ ca }: RemoteClient, url: string, token: string): Promise<string | undefined> {
  const [{ httpClient }, { fixedCredentials }] = await Promise.all([
    import('../../src/client/http-client.js'),
    import('../../src/client/cluster-access.js'),
  ]);
  const client = httpClient({ server: url, ca, credentials: fixedCredentials({ authorization: `Bearer ${token}` }) });
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: {} };
  const { status } = await client.resource(SelfSubjectReviews).create(review);
  client.close();
  return status?.userInfo?.username;
}
