import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lastValueFrom } from 'rxjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isReason } from '../../src/api/errors.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { ServiceAccounts } from '../../src/api/kinds/service-account.js';
import { connect } from '../../src/client/remote-client.js';
import { until } from '../../src/testing/until.js';
import { type EtcdProcess, etcdInstalled, startEtcd } from '../store/etcd/etcd-process.js';
import { type Ended, runKedge, startServer, temporaryDirectory } from './program.js';

/** `kedge store copy`: a server continues with another store as if nothing had happened. */

if (!etcdInstalled) console.warn('There is no etcd on the PATH: that a store is copied to it is not tested.');

const key = { namespace: 'default', name: 'settings' };
const account = { namespace: 'default', name: 'default' };
const original = temporaryDirectory();
const store = `level:${join(original, 'store')}`;
let version: string;
let uids: readonly (string | undefined)[];

beforeAll(async () => {
  const server = await startServer(original);
  const client = await connect({ kubeconfig: server.kubeconfig });
  await until(client.resource(ServiceAccounts), account, (found) => found !== undefined);
  const configMaps = client.resource(ConfigMaps);
  for (const name of ['one', 'two', key.name])
    await configMaps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...key, name }, data: { a: 'b' } });
  await configMaps.delete({ ...key, name: 'two' });
  version = (await configMaps.list({ namespace: key.namespace })).metadata.resourceVersion ?? '';
  uids = await identities(client);
  client.close();
  await server.stop();
});

const identities = async (client: Awaited<ReturnType<typeof connect>>): Promise<readonly (string | undefined)[]> => {
  const found = [await client.resource(ConfigMaps).get(key), await client.resource(ServiceAccounts).get(account)];
  return found.map((object) => object?.metadata.uid);
};

/** Starts a server with a copied store and the keys of the first server, and checks that clients continue. */
async function goesOn(address: string, more: readonly string[] = []): Promise<void> {
  const dataDir = temporaryDirectory();
  cpSync(join(original, 'pki'), join(dataDir, 'pki'), { recursive: true });
  const server = await startServer(dataDir, ['--store', address, ...more]);
  // Clients of the first server recognize this one.
  const client = await connect({ kubeconfig: server.kubeconfig });
  const configMaps = client.resource(ConfigMaps);
  expect(await identities(client)).toEqual(uids);
  const { items, metadata } = await configMaps.list({ namespace: key.namespace });
  expect(items.map((item) => item.metadata.name)).toEqual(['kube-root-ca.crt', 'one', key.name]);
  for (const { metadata } of items) expect(BigInt(metadata.resourceVersion ?? 0)).toBeGreaterThan(BigInt(version));
  const watch = (resourceVersion: string) =>
    lastValueFrom(configMaps.watch({ namespace: key.namespace, resourceVersion, timeoutSeconds: 1 }), {
      defaultValue: undefined,
    });
  await expect(watch(version)).rejects.toSatisfy((error) => isReason(error, 'Expired'));
  expect(await watch(metadata.resourceVersion ?? '')).toBeUndefined();
  client.close();
  await server.stop();
}

const copied = /^\d+ entries were copied; revisions continue after \d+\.\n$/;

test('a store is copied to another directory', async () => {
  const address = `level:${join(temporaryDirectory(), 'store')}`;
  expect(await runKedge(['store', 'copy', store, address])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(copied),
    stderr: '',
  });
  await goesOn(address);
});

test('a store is copied encrypted, and from a store whose key is lost', async () => {
  const directory = temporaryDirectory();
  const configure = (key: string): readonly string[] => {
    const [encryption, config] = ['encryption.yaml', 'server.yaml'].map((file) => join(directory, `${key}-${file}`));
    const secret = Buffer.alloc(32, key).toString('base64');
    writeFileSync(
      encryption ?? '',
      JSON.stringify({
        apiVersion: 'apiserver.config.k8s.io/v1',
        kind: 'EncryptionConfiguration',
        resources: [
          { resources: ['configmaps'], providers: [{ aesgcm: { keys: [{ name: key, secret }] } }, { identity: {} }] },
        ],
      }),
    );
    writeFileSync(config ?? '', `encryptionConfigFile: ${encryption}\n`);
    return ['--config', config ?? ''];
  };
  const encrypted = `level:${join(directory, 'encrypted')}`;
  expect(await runKedge(['store', 'copy', store, encrypted, ...configure('one')])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(copied),
  });
  await goesOn(encrypted, configure('one'));

  const rest = `level:${join(directory, 'rest')}`;
  const copy = ['store', 'copy', encrypted, rest, ...configure('two')];
  const failed = await runKedge(copy);
  expect(failed).toMatchObject({ code: 1, stdout: '' });
  expect(failed.stderr).toMatch(/unable to transform key "core\/configmaps\/.*": no matching prefix found\n$/);
  const { code, stderr } = await runKedge([...copy, '--leave-unreadable']);
  expect(code).toBe(0);
  expect(stderr).toMatch(/^left out core\/configmaps\/default\/one: .*no matching prefix found$/m);
  expect(stderr).not.toContain('serviceaccounts');

  const dataDir = temporaryDirectory();
  cpSync(join(original, 'pki'), join(dataDir, 'pki'), { recursive: true });
  const server = await startServer(dataDir, ['--store', rest, ...configure('two')]);
  const client = await connect({ kubeconfig: server.kubeconfig });
  expect(await client.resource(ConfigMaps).get(key)).toBeUndefined();
  expect((await client.resource(ServiceAccounts).get(account))?.metadata.uid).toBe(uids[1]);
  client.close();
  await server.stop();
});

test('a copy leaves out nothing because a key service does not answer', async () => {
  const directory = temporaryDirectory();
  const [encryption, config] = [join(directory, 'encryption.yaml'), join(directory, 'server.yaml')];
  const kms = { apiVersion: 'v2', name: 'vault', endpoint: `unix://${join(directory, 'nobody.sock')}`, timeout: '1s' };
  writeFileSync(
    encryption,
    JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'EncryptionConfiguration',
      resources: [{ resources: ['configmaps'], providers: [{ identity: {} }, { kms }] }],
    }),
  );
  writeFileSync(config, `encryptionConfigFile: ${encryption}\n`);
  const copy = ['store', 'copy', store, `level:${join(directory, 'copy')}`, '--config', config];
  const { code, stderr } = await runKedge([...copy, '--leave-unreadable']);
  expect(code).toBe(1);
  expect(stderr).toContain('data whose key service does not work is not lost: ');
  expect(await runKedge(copy)).toMatchObject({ code: 0, stdout: expect.stringMatching(copied) });
});

describe.skipIf(!etcdInstalled)('with etcd, a store is copied', () => {
  let etcd: EtcdProcess;
  beforeAll(async () => {
    etcd = await startEtcd();
  });
  afterAll(() => etcd.stop());

  test('there and back', async () => {
    const address = `etcd:${etcd.endpoint}`;
    expect(await runKedge(['store', 'copy', store, address])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(copied),
    });
    await goesOn(address);
    const back = `level:${join(temporaryDirectory(), 'store')}`;
    expect(await runKedge(['store', 'copy', address, back])).toMatchObject({ code: 0 });
    await goesOn(back);
  });

  test('to a prefix from which a copy was refused because it was empty', async () => {
    const config = join(temporaryDirectory(), 'server.yaml');
    writeFileSync(config, 'etcd:\n  prefix: /empty\n');
    const [address, copy] = [`etcd:${etcd.endpoint}`, ['store', 'copy', '--config', config]];
    const { code, stdout, stderr } = await runKedge([...copy, address, `level:${join(temporaryDirectory(), 'store')}`]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^.*no store in etcd under \/empty\n$/);
    expect(await runKedge([...copy, store, address])).toMatchObject({ code: 0, stdout: expect.stringMatching(copied) });
  });

  test('to the prefix of the options file', async () => {
    const config = join(temporaryDirectory(), 'server.yaml');
    writeFileSync(config, `etcd:\n  prefix: /other\nstore: etcd:${etcd.endpoint}\n`);
    expect(await runKedge(['store', 'copy', store, `etcd:${etcd.endpoint}`, '--config', config])).toMatchObject({
      code: 0,
    });
    const dataDir = temporaryDirectory();
    const server = await startServer(dataDir, ['--config', config]);
    const client = await connect({ kubeconfig: server.kubeconfig });
    expect(await identities(client)).toEqual(uids);
    client.close();
    await server.stop();
  });
});

describe('a copy is refused with one sentence', () => {
  const refused = ({ code, stdout, stderr }: Ended, sentence: RegExp): void => {
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(sentence);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  };
  const target = () => `level:${join(temporaryDirectory(), 'store')}`;

  test('from a place without a store', async () => {
    refused(await runKedge(['store', 'copy', `level:${original}`, target()]), /no store in /);
  });

  test('from or to memory', async () => {
    refused(await runKedge(['store', 'copy', 'memory:', target()]), /memory: is lost when this program ends/);
    refused(await runKedge(['store', 'copy', store, 'memory:']), /memory: is lost when this program ends/);
  });

  test('while a server uses it', async () => {
    const server = await startServer(original);
    refused(await runKedge(['store', 'copy', store, target()]), /the store in .* is in use by another process/);
    await server.stop();
  });

  test('to a store that a server has used', async () => {
    const dataDir = temporaryDirectory();
    await (await startServer(dataDir)).stop();
    const used = `level:${join(dataDir, 'store')}`;
    refused(
      await runKedge(['store', 'copy', store, used]),
      /was not copied to .*: (?:it holds something else|its revisions)/,
    );
  });

  test('to itself', async () => {
    refused(await runKedge(['store', 'copy', store, store]), /is in use by another process/);
  });

  test('to a path that is not a directory', async () => {
    const path = join(temporaryDirectory(), 'file');
    mkdirSync(path);
    writeFileSync(join(path, 'x'), '');
    refused(await runKedge(['store', 'copy', store, `level:${join(path, 'x')}`]), /cannot be opened/);
  });
});
