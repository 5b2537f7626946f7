import { type BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { delimited, readFields, varint } from '../../wire.js';

/**
 * The messages of a key service (Kubernetes' KMS v2, `v2.KeyManagementService`), and the stored form of documents
 * encrypted with its help, encoded by hand. Unknown fields are skipped when read.
 */

export interface KeyStatus {
  readonly version: string;
  /** `ok`, or the problem. */
  readonly healthz: string;
  readonly keyId: string;
}

/** A data key encrypted by the service, with all that the service needs to decrypt it. */
export interface EncryptedKey {
  readonly ciphertext: Buffer;
  readonly keyId: string;
  readonly annotations: ReadonlyMap<string, Buffer>;
}

/** The types of a data key. */
export const keyTypes = { key: 0, seed: 1 } as const;

/** The stored form after the prefix: a document encrypted by a data key, and that key encrypted by the service. */
export interface Envelope {
  readonly data: Buffer;
  readonly key: EncryptedKey;
  readonly type: number;
}

export function encodeEncrypt(plaintext: Buffer, uid: string): Uint8Array {
  return new BinaryWriter().tag(1, delimited).bytes(plaintext).tag(2, delimited).string(uid).finish();
}

export function encodeDecrypt({ ciphertext, keyId, annotations }: EncryptedKey, uid: string): Uint8Array {
  const writer = new BinaryWriter().tag(1, delimited).bytes(ciphertext).tag(2, delimited).string(uid);
  return annotated(writer.tag(3, delimited).string(keyId), annotations).finish();
}

export function encodeEnvelope({ data, key: { ciphertext, keyId, annotations }, type }: Envelope): Buffer {
  const writer = new BinaryWriter().tag(1, delimited).bytes(data).tag(2, delimited).string(keyId);
  annotated(writer.tag(3, delimited).bytes(ciphertext), annotations).tag(5, varint).int32(type);
  return Buffer.from(writer.finish());
}

/** Annotations are field 4 in both messages that are written. */
function annotated(writer: BinaryWriter, annotations: ReadonlyMap<string, Buffer>): BinaryWriter {
  for (const [name, value] of annotations)
    writer.tag(4, delimited).fork().tag(1, delimited).string(name).tag(2, delimited).bytes(value).join();
  return writer;
}

export function decodeStatus(bytes: Uint8Array): KeyStatus {
  const found = { version: '', healthz: '', keyId: '' };
  readFields(bytes, {
    1: (reader) => {
      found.version = reader.string();
    },
    2: (reader) => {
      found.healthz = reader.string();
    },
    3: (reader) => {
      found.keyId = reader.string();
    },
  });
  return found;
}

export function decodeEncrypted(bytes: Uint8Array): EncryptedKey {
  const found = { ciphertext: Buffer.alloc(0), keyId: '', annotations: new Map<string, Buffer>() };
  readFields(bytes, {
    1: (reader) => {
      found.ciphertext = Buffer.from(reader.bytes());
    },
    2: (reader) => {
      found.keyId = reader.string();
    },
    3: (reader) => readAnnotation(reader, found.annotations),
  });
  return found;
}

export function decodeDecrypted(bytes: Uint8Array): Buffer {
  let plaintext = Buffer.alloc(0);
  readFields(bytes, {
    1: (reader) => {
      plaintext = Buffer.from(reader.bytes());
    },
  });
  return plaintext;
}

/** @throws Error if the bytes are not a message */
export function decodeEnvelope(bytes: Uint8Array): Envelope {
  const found = { data: Buffer.alloc(0), keyId: '', ciphertext: Buffer.alloc(0), type: keyTypes.key as number };
  const annotations = new Map<string, Buffer>();
  readFields(bytes, {
    1: (reader) => {
      found.data = Buffer.from(reader.bytes());
    },
    2: (reader) => {
      found.keyId = reader.string();
    },
    3: (reader) => {
      found.ciphertext = Buffer.from(reader.bytes());
    },
    4: (reader) => readAnnotation(reader, annotations),
    5: (reader) => {
      found.type = reader.int32();
    },
  });
  const { data, keyId, ciphertext, type } = found;
  return { data, key: { ciphertext, keyId, annotations }, type };
}

function readAnnotation(reader: BinaryReader, into: Map<string, Buffer>): void {
  let name = '';
  let value = Buffer.alloc(0);
  readFields(reader.bytes(), {
    1: (inner) => {
      name = inner.string();
    },
    2: (inner) => {
      value = Buffer.from(inner.bytes());
    },
  });
  into.set(name, value);
}
