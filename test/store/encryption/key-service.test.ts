import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { connectKeyService, type KeyService } from '../../../src/store/encryption/kms/key-service.js';

/** A plugin of Kubernetes' KMS v2 as its .proto file describes it, at a socket. */

const folder = mkdtempSync(join(tmpdir(), 'kms-'));
afterAll(() => rmSync(folder, { recursive: true }));

const delimited = 2;
type Fields = Map<number, Uint8Array>;
/** The fields of a message, all of which have a length. */
function fieldsOf(bytes: Uint8Array): Fields {
  const reader = new BinaryReader(bytes);
  const found: Fields = new Map();
  while (reader.pos < reader.len) {
    const [field] = reader.tag();
    found.set(field, reader.bytes());
  }
  return found;
}
const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();
const annotation = new BinaryWriter().tag(1, delimited).string('a.example.com').tag(2, delimited).string('x').finish();

const answers: Readonly<Record<string, (fields: Fields) => Uint8Array>> = {
  Status: () =>
    new BinaryWriter()
      .tag(1, delimited)
      .string('v2')
      .tag(2, delimited)
      .string('ok')
      .tag(3, delimited)
      .string('k')
      .finish(),
  Encrypt: (fields) =>
    new BinaryWriter()
      .tag(1, delimited)
      .string(`<${text(fields.get(1))}>`)
      .tag(2, delimited)
      .string(text(fields.get(2)))
      .tag(3, delimited)
      .bytes(annotation)
      // What later versions may have.
      .tag(9, 0)
      .int32(7)
      .finish(),
  Decrypt: (fields) =>
    new BinaryWriter()
      .tag(1, delimited)
      .string([1, 2, 3].map((field) => text(fields.get(field))).join(' '))
      .finish(),
};

let server: Server;
let service: KeyService;
let answer = answers;
beforeEach(async () => {
  answer = answers;
  server = new Server();
  const asIs = (bytes: Uint8Array): Buffer => Buffer.from(bytes);
  const method = (name: string) => ({
    path: `/v2.KeyManagementService/${name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  });
  const handler = (name: string) => (call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => {
    const made = answer[name]?.(fieldsOf(call.request));
    if (made === undefined) done({ code: status.UNAVAILABLE, details: 'sealed' });
    else done(null, Buffer.from(made));
  };
  const names = Object.keys(answers);
  server.addService(
    Object.fromEntries(names.map((name) => [name, method(name)])),
    Object.fromEntries(names.map((name) => [name, handler(name)])),
  );
  const path = join(folder, 'plugin.sock');
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    );
  });
  service = connectKeyService(`unix://${path}`, 5_000);
});
afterEach(() => {
  service.close();
  server.forceShutdown();
});

test('it is asked and understood', async () => {
  expect(await service.status()).toEqual({ version: 'v2', healthz: 'ok', keyId: 'k' });
  const encrypted = await service.encrypt(Buffer.from('seed'), 'uid-1');
  expect(encrypted).toEqual({
    ciphertext: Buffer.from('<seed>'),
    keyId: 'uid-1',
    annotations: new Map([['a.example.com', Buffer.from('x')]]),
  });
  expect((await service.decrypt({ ...encrypted, keyId: 'k' }, 'uid-2')).toString()).toBe('<seed> uid-2 k');
});

test('what it says when it refuses is told', async () => {
  answer = {};
  await expect(service.status()).rejects.toThrow('sealed');
});

test('where nobody listens that is told', async () => {
  const nobody = connectKeyService(`unix://${join(folder, 'nobody.sock')}`, 5_000);
  await expect(nobody.status()).rejects.toThrow(/^(No connection established|connect ENOENT)/);
  nobody.close();
});
