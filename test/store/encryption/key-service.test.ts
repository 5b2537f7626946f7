import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { connectKeyService, type KeyService } from '../../../src/store/encryption/kms/key-service.js';
import { startPlugin } from './plugin.js';

const folder = mkdtempSync(join(tmpdir(), 'kms-'));
afterAll(() => rmSync(folder, { recursive: true }));

let plugin: Awaited<ReturnType<typeof startPlugin>>;
let service: KeyService;
beforeEach(async () => {
  const path = join(folder, 'plugin.sock');
  plugin = await startPlugin(path);
  service = connectKeyService(`unix://${path}`, 5_000);
});
afterEach(() => {
  service.close();
  plugin.stop();
});

test('requests are sent and answers decoded', async () => {
  expect(await service.status()).toEqual({ version: 'v2', healthz: 'ok', keyId: 'k' });
  const encrypted = await service.encrypt(Buffer.from('seed'), 'uid-1');
  expect(encrypted).toEqual({
    ciphertext: Buffer.from('dees'),
    keyId: 'k',
    annotations: new Map([['a.example.com', Buffer.from('x')]]),
  });
  expect((await service.decrypt(encrypted, 'uid-2')).toString()).toBe('seed');
  expect(plugin.asked).toEqual(['Status', 'Encrypt uid-1', 'Decrypt uid-2 k']);
});

test('an error of the service is reported with its text', async () => {
  plugin.seal();
  await expect(service.status()).rejects.toThrow('sealed');
});

test('a missing service is reported', async () => {
  const nobody = connectKeyService(`unix://${join(folder, 'nobody.sock')}`, 5_000);
  await expect(nobody.status()).rejects.toThrow(/^(No connection established|connect ENOENT)/);
  nobody.close();
});
