import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isReason } from '../../src/api/errors.js';
import { Leases } from '../../src/api/kinds/lease.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import { createServer, type Server } from '../../src/embed.js';
import { type Logger, silentLogger } from '../../src/runtime/logger.js';
import { MemoryStore } from '../../src/store/memory/memory-store.js';
import { startPlugin } from '../store/encryption/plugin.js';
import { runningServer } from './running-server.js';

/** Objects that are stored encrypted, with keys that change. */

let folder: string;
let server: Server | undefined;
beforeEach(async () => {
  told = [];
  folder = await mkdtemp(join(tmpdir(), 'kedge-encryption-'));
});
afterEach(async () => {
  await server?.stop();
  await rm(folder, { recursive: true });
});

const providers = {
  one: `aescbc: { keys: [{ name: one, secret: ${Buffer.alloc(32, 1).toString('base64')} }] }`,
  two: `aesgcm: { keys: [{ name: two, secret: ${Buffer.alloc(32, 2).toString('base64')} }] }`,
  identity: 'identity: {}',
};
type Name = keyof typeof providers;
const configuration = (...names: readonly Name[]): string => `
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
${names.map((name) => `  - ${providers[name]}\n`).join('')}`;
const file = (): string => join(folder, 'encryption.yaml');
const use = (...names: readonly Name[]): Promise<void> => writeFile(file(), configuration(...names));

let told: string[] = [];
const log: Logger = {
  ...silentLogger,
  warn: (_, message) => void told.push(message),
  child: () => log,
};

async function start(): Promise<Server> {
  await server?.stop();
  server = await createServer({
    store: `level:${join(folder, 'store')}`,
    encryptionConfiguration: { file: file() },
    controllers: [],
    log,
  });
  return server;
}

const key = { namespace: 'default', name: 'a' };
const secrets = (of: Server) => of.client().resource(Secrets);
const version = async (of: Server): Promise<string | undefined> =>
  (await secrets(of).get(key))?.metadata.resourceVersion;
const create = (of: Server, name = 'a') =>
  secrets(of).create({ apiVersion: 'v1', kind: 'Secret', metadata: { ...key, name }, data: { a: 'YQ==' } });
const replace = async (of: Server): Promise<void> => {
  const now = await secrets(of).get(key);
  if (now !== undefined) await secrets(of).update(now);
};

const writes: readonly [string, (of: Server) => Promise<unknown>][] = [
  ['PUT', replace],
  ['merge patch', (of) => secrets(of).patch(key, { type: 'merge', body: {} })],
  ['JSON patch', (of) => secrets(of).patch(key, { type: 'json', body: [] })],
  ['strategic merge patch', (of) => secrets(of).patch(key, { type: 'strategic', body: {} })],
];

test.each(writes)('a %s without changes is stored if another key writes now, and only then', async (_, write) => {
  await use('one', 'identity');
  const first = await start();
  await create(first);
  const before = await version(first);
  await write(first);
  expect(await version(first)).toBe(before);

  await use('two', 'one');
  const second = await start();
  await write(second);
  const rewritten = await version(second);
  expect(rewritten).not.toBe(before);
  await write(second);
  expect(await version(second)).toBe(rewritten);

  await use('two');
  expect(await version(await start())).toBe(rewritten);
});

test('changed keys are used without a restart, invalid ones are not', async () => {
  await use('identity');
  const first = await start();
  await create(first);
  await use('one', 'identity');
  const before = await version(first);
  // Nothing is stored until the file was read again.
  await expect.poll(() => replace(first).then(() => version(first))).not.toBe(before);
  await use();
  await expect.poll(() => told).toEqual(['still using the previous contents']);
  await create(first, 'b');
  await use('one');
  const second = await start();
  expect((await secrets(second).list({ namespace: 'default' })).items).toHaveLength(2);
});

test('a file with a failing key service is used only once that works', async () => {
  await use('one');
  const running = await start();
  const nobody = `kms: { apiVersion: v2, name: vault, endpoint: "unix://${join(folder, 'nobody.sock')}", timeout: 1s }`;
  await writeFile(file(), configuration('identity').replace('identity: {}', nobody));
  await expect.poll(() => told).toContain('still using the previous contents');
  await create(running);
  expect((await secrets(running).get(key))?.data).toEqual({ a: 'YQ==' });
  const before = await version(running);
  await use('two', 'one');
  await expect.poll(() => replace(running).then(() => version(running))).not.toBe(before);
});

test('a key service is kept when other parts of the file change', async () => {
  const path = join(folder, 'plugin.sock');
  const plugin = await startPlugin(path);
  try {
    const vault = (...names: readonly Name[]): Promise<void> =>
      writeFile(
        file(),
        configuration(...names, 'identity').replace(
          'identity: {}',
          `kms: { apiVersion: v2, name: vault, endpoint: "unix://${path}", timeout: 5s }`,
        ),
      );
    await vault();
    const first = await start();
    await create(first);
    const before = await version(first);
    await vault('one');
    await expect.poll(() => replace(first).then(() => version(first))).not.toBe(before);
    expect(plugin.asked.map((what) => what.split(' ')[0])).toEqual(['Status', 'Encrypt']);
  } finally {
    plugin.stop();
  }
});

test('a new secret under the same key name counts as another key', async () => {
  const keyOf = (byte: number): string => `{ name: one, secret: ${Buffer.alloc(32, byte).toString('base64')} }`;
  const useSecrets = (...bytes: readonly number[]): Promise<void> =>
    writeFile(file(), configuration('identity').replace('identity: {}', `aesgcm: { keys: [${bytes.map(keyOf)}] }`));
  await useSecrets(1);
  await create(await start());
  await useSecrets(2, 1);
  const between = await start();
  const before = await version(between);
  await replace(between);
  const rewritten = await version(between);
  expect(rewritten).not.toBe(before);
  await replace(between);
  expect(await version(between)).toBe(rewritten);
  await useSecrets(2);
  expect(await version(await start())).toBe(rewritten);
});

test('without the key nothing is read, changed or lost', async () => {
  await use('one');
  await create(await start());
  await use('two');
  const without = await start();
  const why = 'Internal error occurred: unable to transform key "core/secrets/default/a": no matching prefix found';
  const fails = async (asked: Promise<unknown>): Promise<void> => {
    const error = await asked.catch((failure: unknown) => failure);
    expect(error).toMatchObject({ code: 500, message: why });
    expect(isReason(error, 'InternalError')).toBe(true);
  };
  await fails(secrets(without).get(key));
  await fails(secrets(without).list({ namespace: 'default' }));
  await fails(secrets(without).patch(key, { type: 'merge', body: { data: { a: 'Yg==' } } }));
  await fails(secrets(without).delete(key));
  await fails(create(without));
  expect((await create(without, 'b')).metadata.name).toBe('b');
  await use('two', 'one');
  await expect
    .poll(() =>
      secrets(without)
        .get(key)
        .catch(() => undefined),
    )
    .toMatchObject({ data: { a: 'YQ==' } });
});

test('an invalid configuration fails the start, and so does one for a custom store', async () => {
  await writeFile(file(), configuration('one').replace('secrets', 'Secrets'));
  await expect(start()).rejects.toThrow('resources[0].resources[0]: Invalid value: "Secrets"');
  const options = { store: new MemoryStore(), encryptionConfiguration: configuration('one') };
  await expect(createServer(options)).rejects.toThrow('option encryptionConfiguration is for a store with an address');
});

test('a missing key service fails health checks, and nothing is written with it', async () => {
  const text = configuration('identity').replace(
    'identity: {}',
    `kms: { apiVersion: v2, name: vault, endpoint: "unix://${join(folder, 'nobody.sock')}", timeout: 1s }`,
  );
  const store = `level:${join(folder, 'store')}`;
  await using running = await runningServer({ store, encryptionConfiguration: text });
  const why = /the key service vault cannot be used: .*nobody\.sock/;
  await expect(create(running.server)).rejects.toMatchObject({ code: 500, message: expect.stringMatching(why) });
  expect(await version(running.server)).toBeUndefined();
  for (const path of ['/readyz', '/livez', '/healthz']) {
    const { code, text: told } = await running.ask('root', `GET ${path}?verbose`);
    expect([code, told]).toEqual([500, expect.stringContaining('[-]kms-providers failed: reason withheld\n')]);
  }
  expect((await running.ask('root', 'GET /readyz?exclude=kms-providers')).code).toBe(200);
  expect((await running.ask('root', 'GET /livez/kms-providers')).text).toMatch(
    /^internal server error: .*nobody\.sock/,
  );
});

describe('metrics', () => {
  const scraped = async (
    { ask }: Awaited<ReturnType<typeof runningServer>>,
    name: RegExp,
  ): Promise<readonly string[]> => {
    const { text } = await ask('root', 'GET /metrics');
    return text.split('\n').filter((line) => name.test(line) && !/^#|_bucket|_sum/.test(line));
  };
  const hash = (of: string): string => `sha256:${createHash('sha256').update(of).digest('hex')}`;
  const options = () => ({ store: `level:${join(folder, 'store')}`, encryptionConfiguration: { file: file() }, log });
  const run = () => runningServer(options());
  const objects = /^kedge_encryption_objects\{group="",resource="secrets"/;

  test('show objects still to be rewritten with the current key, and unreadable ones', async () => {
    await use('identity');
    {
      await using running = await run();
      await create(running.server);
      await create(running.server, 'b');
      expect(await scraped(running, objects)).toEqual([expect.stringMatching(/state="current"\} 2$/)]);
      await use('one', 'identity');
      await expect.poll(() => scraped(running, objects)).toEqual([expect.stringMatching(/state="stale"\} 2$/)]);
      await replace(running.server);
      expect(await scraped(running, objects)).toEqual([
        expect.stringMatching(/state="current"\} 1$/),
        expect.stringMatching(/state="stale"\} 1$/),
      ]);
      await use();
      await expect
        .poll(() => scraped(running, /^apiserver_encryption_config_controller_(\w+reloads_total|last_config)/))
        .toEqual([
          expect.stringMatching(/reloads_total\{.*status="success"\} 1$/),
          expect.stringMatching(/reloads_total\{.*status="failure"\} 1$/),
          `apiserver_encryption_config_controller_last_config_info{apiserver_id_hash="${hash(hostname())}",hash="${hash(configuration('one', 'identity'))}"} 1`,
        ]);
    }
    await use('identity');
    await using running = await run();
    expect(await scraped(running, objects)).toEqual([
      expect.stringMatching(/state="unreadable"\} 1$/),
      expect.stringMatching(/state="current"\} 1$/),
    ]);
  });

  test('show that unreadable objects became readable without a read', async () => {
    const others = /^kedge_encryption_objects\{group="coordination.k8s.io",resource="leases"/;
    const useFor = (...names: readonly Name[]): Promise<void> =>
      writeFile(file(), configuration(...names).replace('secrets', 'leases.coordination.k8s.io'));
    await useFor('one');
    {
      await using running = await run();
      const typeOf = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
      await running.server
        .client()
        .resource(Leases)
        .create({ ...typeOf, metadata: key });
    }
    await useFor('two');
    await using running = await runningServer({ ...options(), controllers: [] });
    expect(await scraped(running, others)).toEqual([expect.stringMatching(/state="unreadable"/)]);
    expect(await scraped(running, /^apiserver_(resource|storage)_objects\{.*leases/)).toEqual([
      expect.stringMatching(/ 1$/),
      expect.stringMatching(/ 1$/),
    ]);
    await useFor('two', 'one');
    await expect.poll(() => scraped(running, others)).toEqual([expect.stringMatching(/state="stale"/)]);
  });

  test('count encryption, decryption and calls of a key service', async () => {
    const path = join(folder, 'plugin.sock');
    const plugin = await startPlugin(path);
    try {
      const kms = `kms: { apiVersion: v2, name: vault, endpoint: "unix://${path}", timeout: 5s }`;
      await writeFile(file(), configuration('identity').replace('identity: {}', kms));
      {
        await using running = await run();
        await create(running.server);
        const operations = 'apiserver_storage_transformation_operations_total';
        expect(await scraped(running, new RegExp(`^${operations}`))).toEqual([
          `${operations}{resource="secrets",transformation_type="to_storage",transformer_prefix="k8s:enc:kms:v2:vault:",status="OK"} 1`,
        ]);
        const calls = 'apiserver_envelope_encryption_kms_operations_latency_seconds_count';
        const call = (method: string, code: string): string =>
          `${calls}{provider_name="vault",method_name="/v2.KeyManagementService/${method}",grpc_status_code="${code}"} 1`;
        expect(await scraped(running, new RegExp(`^${calls}`))).toEqual([call('Status', 'OK'), call('Encrypt', 'OK')]);
        const key = `provider_name="vault",key_id_hash="${hash('k')}",apiserver_id_hash="${hash(hostname())}"`;
        expect(await scraped(running, /key_id_hash_/)).toEqual([
          expect.stringContaining(`key_id_hash_status_last_timestamp_seconds{${key}} 1`),
          `apiserver_envelope_encryption_key_id_hash_total{transformation_type="to_storage",${key}} 1`,
        ]);
      }
      {
        // The object has not been read yet, nor was its key requested from the plugin before.
        await using running = await run();
        expect(await scraped(running, objects)).toEqual([expect.stringMatching(/state="current"\} 1$/)]);
        expect(await scraped(running, /operations_total/)).toEqual([
          expect.stringMatching(/type="from_storage",.*vault:",status="OK"\} 1$/),
        ]);
        expect(await scraped(running, /key_id_hash_total/)).toEqual([
          expect.stringMatching(/type="from_storage",provider_name="vault",.*\} 1$/),
        ]);
      }
      plugin.seal();
      await using running = await run();
      expect(await scraped(running, /operations_total|latency_seconds_count/)).toEqual([
        expect.stringMatching(/method_name=".*Status",grpc_status_code="\w+"\} 1$/),
        expect.stringMatching(/method_name=".*Decrypt",grpc_status_code="\w+"\} 1$/),
        expect.stringMatching(/type="from_storage",.*vault:",status="unknown-non-grpc"\} [1-9]/),
      ]);
    } finally {
      plugin.stop();
    }
  });
});
