import { Client, credentials, type ServiceError } from '@grpc/grpc-js';
import { asBuffer } from '../../wire.js';
import {
  decodeDecrypted,
  decodeEncrypted,
  decodeStatus,
  type EncryptedKey,
  encodeDecrypt,
  encodeEncrypt,
  type KeyStatus,
} from './messages.js';

/** A service with the keys that encrypt data keys: a plugin of Kubernetes' KMS v2. */
export interface KeyService {
  status(): Promise<KeyStatus>;
  /** `uid` identifies the request in the service's log. */
  encrypt(plaintext: Buffer, uid: string): Promise<EncryptedKey>;
  decrypt(key: EncryptedKey, uid: string): Promise<Buffer>;
  close(): void;
}

/**
 * Connects to a key service by gRPC at `unix:///PATH` (or `unix:///@NAME`, which is no file). A request that takes
 * longer than `timeoutMs` fails.
 */
export function connectKeyService(endpoint: string, timeoutMs: number): KeyService {
  const client = new Client(addressOf(endpoint), credentials.createInsecure(), {
    'grpc.default_authority': 'localhost',
    'grpc.max_reconnect_backoff_ms': 5_000,
  });
  const call = <T>(method: string, request: Uint8Array, decode: (bytes: Uint8Array) => T): Promise<T> =>
    new Promise((resolve, reject) => {
      const path = `/v2.KeyManagementService/${method}`;
      const done = (error: ServiceError | null, answer: T | undefined): void => {
        if (error === null && answer !== undefined) resolve(answer);
        else reject(new Error(error === null ? 'no answer' : error.details, { cause: error }));
      };
      client.makeUnaryRequest(path, asBuffer, decode, request, { deadline: Date.now() + timeoutMs }, done);
    });
  return {
    status: () => call('Status', new Uint8Array(), decodeStatus),
    encrypt: (plaintext, uid) => call('Encrypt', encodeEncrypt(plaintext, uid), decodeEncrypted),
    decrypt: (key, uid) => call('Decrypt', encodeDecrypt(key, uid), decodeDecrypted),
    close: () => client.close(),
  };
}

/** A path that begins with `@` names a socket in Linux' abstract namespace. */
function addressOf(endpoint: string): string {
  const path = endpoint.replace(/^unix:(\/\/)?/, '');
  return path.startsWith('/@') ? `unix-abstract:${path.slice(2)}` : `unix:${path}`;
}
