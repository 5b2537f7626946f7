import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { delimited, readFields, varint } from '../wire.js';

/**
 * The messages of etcd's v3 API that the store uses, encoded by hand. Field numbers are those of etcd 3.4's
 * `etcdserverpb` and `mvccpb`; other fields are skipped when read.
 */

export interface KeyValue {
  readonly key: string;
  readonly value: Buffer;
  readonly createRevision: bigint;
  readonly modRevision: bigint;
  /** The number of writes to the key since its creation. */
  readonly version: bigint;
}

export interface RangeRequest {
  readonly key: string;
  /** Exclusive; absent for one key. A single zero byte stands for the end of all keys. */
  readonly rangeEnd?: Uint8Array;
  readonly limit?: number;
  readonly revision?: bigint;
}

export interface RangeResponse {
  /** The revision of the store at the time of the response. */
  readonly revision: bigint;
  readonly kvs: readonly KeyValue[];
  /** The number of keys in the range, regardless of the limit. */
  readonly count: number;
}

export interface Compare {
  readonly key: string;
  readonly target: 'version' | 'modRevision';
  readonly equals: bigint;
}

export type Operation =
  | { readonly put: { readonly key: string; readonly value: Uint8Array } }
  /** Returns the deleted value. */
  | { readonly delete: { readonly key: string } }
  | { readonly range: RangeRequest };

export interface TxnRequest {
  /** The conditions of `success`; all must hold. */
  readonly compare: readonly Compare[];
  readonly success: Operation;
  readonly failure: readonly Operation[];
}

export interface TxnResponse {
  readonly revision: bigint;
  readonly succeeded: boolean;
  /** The entry that each executed operation found or deleted. */
  readonly found: readonly (KeyValue | undefined)[];
}

export interface WatchRequest {
  readonly key: string;
  readonly rangeEnd: Uint8Array;
  readonly startRevision: bigint;
}

export interface WatchEvent {
  readonly type: 'put' | 'delete';
  readonly kv: KeyValue;
  readonly previous: KeyValue | undefined;
}

export interface WatchResponse {
  readonly created: boolean;
  readonly canceled: boolean;
  /** If the watch was canceled because its start revision is compacted: the first revision that is not. Otherwise 0. */
  readonly compactRevision: bigint;
  readonly cancelReason: string;
  readonly events: readonly WatchEvent[];
  /** More events follow in another response; they may belong to the same revision as the last event. */
  readonly fragment: boolean;
}

/** Returns the first key after all that start with this one; a key never consists of 0xff only. */
export function endOfRange(prefix: string): Uint8Array {
  const end = Buffer.from(prefix);
  const last = end.length - 1;
  end[last] = (end[last] ?? 0) + 1;
  return end;
}

const compareTargets = { version: { code: 0, field: 4 }, modRevision: { code: 2, field: 6 } };

export const encodeRange = (request: RangeRequest): Uint8Array => writeRange(new BinaryWriter(), request).finish();

export function encodeTxn({ compare, success, failure }: TxnRequest): Uint8Array {
  const writer = new BinaryWriter();
  for (const { key, target, equals } of compare) {
    const { code, field } = compareTargets[target];
    writer.tag(1, delimited).fork().tag(2, varint).int32(code).tag(3, delimited).string(key);
    writer.tag(field, varint).int64(equals).join();
  }
  writeOperation(writer.tag(2, delimited).fork(), success).join();
  for (const operation of failure) writeOperation(writer.tag(3, delimited).fork(), operation).join();
  return writer.finish();
}

export const encodeCompaction = (revision: bigint): Uint8Array =>
  new BinaryWriter().tag(1, varint).int64(revision).finish();

/** Encodes a request for a watch with previous values, in which large responses are sent in fragments. */
export function encodeWatch({ key, rangeEnd, startRevision }: WatchRequest): Uint8Array {
  const writer = new BinaryWriter().tag(1, delimited).fork();
  writer.tag(1, delimited).string(key).tag(2, delimited).bytes(rangeEnd);
  writer.tag(3, varint).int64(startRevision).tag(6, varint).bool(true).tag(8, varint).bool(true);
  return writer.join().finish();
}

export const encodeAuthentication = ({
  user,
  password,
}: {
  readonly user: string;
  readonly password: string;
}): Uint8Array => new BinaryWriter().tag(1, delimited).string(user).tag(2, delimited).string(password).finish();

/** Returns the token of a login. */
export function decodeAuthentication(bytes: Uint8Array): string {
  let token = '';
  readFields(bytes, {
    2: (reader) => {
      token = reader.string();
    },
  });
  return token;
}

export function decodeRange(bytes: Uint8Array): RangeResponse {
  let revision = 0n;
  let count = 0;
  const kvs: KeyValue[] = [];
  readFields(bytes, {
    1: (reader) => {
      revision = decodeHeader(reader.bytes());
    },
    2: (reader) => kvs.push(decodeKeyValue(reader.bytes())),
    4: (reader) => {
      count = Number(reader.int64());
    },
  });
  return { revision, kvs, count };
}

export function decodeTxn(bytes: Uint8Array): TxnResponse {
  let revision = 0n;
  let succeeded = false;
  const found: (KeyValue | undefined)[] = [];
  readFields(bytes, {
    1: (reader) => {
      revision = decodeHeader(reader.bytes());
    },
    2: (reader) => {
      succeeded = reader.bool();
    },
    3: (reader) => found.push(decodeOperationAnswer(reader.bytes())),
  });
  return { revision, succeeded, found };
}

export function decodeWatch(bytes: Uint8Array): WatchResponse {
  let created = false;
  let canceled = false;
  let compactRevision = 0n;
  let cancelReason = '';
  let fragment = false;
  const events: WatchEvent[] = [];
  readFields(bytes, {
    3: (reader) => {
      created = reader.bool();
    },
    4: (reader) => {
      canceled = reader.bool();
    },
    5: (reader) => {
      compactRevision = BigInt(reader.int64());
    },
    6: (reader) => {
      cancelReason = reader.string();
    },
    7: (reader) => {
      fragment = reader.bool();
    },
    11: (reader) => events.push(decodeEvent(reader.bytes())),
  });
  return { created, canceled, compactRevision, cancelReason, events, fragment };
}

function writeRange(writer: BinaryWriter, { key, rangeEnd, limit, revision }: RangeRequest): BinaryWriter {
  writer.tag(1, delimited).string(key);
  if (rangeEnd !== undefined) writer.tag(2, delimited).bytes(rangeEnd);
  if (limit !== undefined) writer.tag(3, varint).int64(limit);
  if (revision !== undefined) writer.tag(4, varint).int64(revision);
  return writer;
}

function writeOperation(writer: BinaryWriter, operation: Operation): BinaryWriter {
  if ('range' in operation) return writeRange(writer.tag(1, delimited).fork(), operation.range).join();
  if ('put' in operation) {
    const { key, value } = operation.put;
    return writer.tag(2, delimited).fork().tag(1, delimited).string(key).tag(2, delimited).bytes(value).join();
  }
  return writer
    .tag(3, delimited)
    .fork()
    .tag(1, delimited)
    .string(operation.delete.key)
    .tag(3, varint)
    .bool(true)
    .join();
}

function decodeHeader(bytes: Uint8Array): bigint {
  let revision = 0n;
  readFields(bytes, {
    3: (reader) => {
      revision = BigInt(reader.int64());
    },
  });
  return revision;
}

/** Returns the first entry of a range, or the one that was deleted; undefined for a put. */
function decodeOperationAnswer(bytes: Uint8Array): KeyValue | undefined {
  let kv: KeyValue | undefined;
  readFields(bytes, {
    1: (reader) => {
      kv = decodeRange(reader.bytes()).kvs[0];
    },
    3: (reader) => {
      readFields(reader.bytes(), {
        3: (inner) => {
          kv = decodeKeyValue(inner.bytes());
        },
      });
    },
  });
  return kv;
}

function decodeEvent(bytes: Uint8Array): WatchEvent {
  let type: WatchEvent['type'] = 'put';
  let kv: KeyValue | undefined;
  let previous: KeyValue | undefined;
  readFields(bytes, {
    1: (reader) => {
      type = reader.int32() === 1 ? 'delete' : 'put';
    },
    2: (reader) => {
      kv = decodeKeyValue(reader.bytes());
    },
    3: (reader) => {
      previous = decodeKeyValue(reader.bytes());
    },
  });
  return { type, kv: kv ?? decodeKeyValue(new Uint8Array()), previous };
}

function decodeKeyValue(bytes: Uint8Array): KeyValue {
  let key = '';
  let value: Uint8Array = new Uint8Array();
  let createRevision = 0n;
  let modRevision = 0n;
  let version = 0n;
  readFields(bytes, {
    1: (reader) => {
      key = Buffer.from(reader.bytes()).toString('utf8');
    },
    2: (reader) => {
      createRevision = BigInt(reader.int64());
    },
    3: (reader) => {
      modRevision = BigInt(reader.int64());
    },
    4: (reader) => {
      version = BigInt(reader.int64());
    },
    5: (reader) => {
      value = reader.bytes();
    },
  });
  return {
    key,
    value: Buffer.from(value.buffer, value.byteOffset, value.length),
    createRevision,
    modRevision,
    version,
  };
}
