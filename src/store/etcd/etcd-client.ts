import { Client, type ClientDuplexStream, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { StoreUnavailable } from '../store-unavailable.js';
import {
  decodeRange,
  decodeTxn,
  decodeWatch,
  encodeCompaction,
  encodeRange,
  encodeTxn,
  encodeWatch,
  type RangeRequest,
  type RangeResponse,
  type TxnRequest,
  type TxnResponse,
  type WatchRequest,
  type WatchResponse,
} from './messages.js';

export interface EtcdTls {
  /** PEM; the certificate authorities of the servers. The system's if absent. */
  readonly ca?: Buffer;
  /** PEM; what the client identifies itself with. */
  readonly key?: Buffer;
  readonly certificate?: Buffer;
}

export interface EtcdClientOptions {
  /** `HOST:PORT` of each member; one is used until it fails. */
  readonly endpoints: readonly string[];
  /** Plain text if absent. */
  readonly tls?: EtcdTls;
  /** How long one request may take, in milliseconds; 10 seconds unless said otherwise. */
  readonly timeoutMs?: number;
}

/** etcd says that a revision is compacted, or has not happened yet. */
export class RevisionOutOfRange extends Error {
  override readonly name = 'RevisionOutOfRange';
  readonly why: 'compacted' | 'future';
  constructor(why: 'compacted' | 'future') {
    super(`the revision is ${why === 'compacted' ? 'compacted' : 'in the future'}`);
    this.why = why;
  }
}

export interface WatchHandlers {
  response(response: WatchResponse): void;
  /** Called once, unless the watch was stopped: nothing more comes. */
  ended(error: StoreUnavailable): void;
}

/** What of etcd v3 the store needs, over gRPC. Fails with StoreUnavailable when no member answers. */
export interface EtcdClient {
  range(request: RangeRequest): Promise<RangeResponse>;
  /** Tried once: after StoreUnavailable it is not known whether it happened. */
  txn(request: TxnRequest): Promise<TxnResponse>;
  compact(revision: bigint): Promise<void>;
  /** Answers how to stop it. */
  watch(request: WatchRequest, handlers: WatchHandlers): () => void;
  close(): void;
}

const keepAlive = { 'grpc.keepalive_time_ms': 10_000, 'grpc.keepalive_timeout_ms': 5_000 };
const channelOptions = { ...keepAlive, 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 };

/** A member that has lost the others ends the watch, instead of saying nothing for as long as that lasts. */
const needsLeader = new Metadata();
needsLeader.set('hasleader', 'true');

export function createEtcdClient({ endpoints, tls, timeoutMs = 10_000 }: EtcdClientOptions): EtcdClient {
  const secrets =
    tls === undefined
      ? credentials.createInsecure()
      : credentials.createSsl(tls.ca ?? null, tls.key ?? null, tls.certificate ?? null);
  const members = endpoints.map((endpoint) => new Client(endpoint, secrets, channelOptions));
  const [first] = members;
  if (first === undefined) throw new TypeError('an etcd client needs at least one endpoint');
  let current = 0;
  const member = (): Client => members[current % members.length] ?? first;
  const where = endpoints.join(',');
  const failure = failureOf(where, tls === undefined ? ' (it was asked without TLS)' : '');

  const once = <T>(method: string, request: Uint8Array, decode: (bytes: Uint8Array) => T): Promise<T> =>
    new Promise((resolve, reject) => {
      const used = current;
      const options = { deadline: Date.now() + timeoutMs };
      member().makeUnaryRequest(`/etcdserverpb.KV/${method}`, asBuffer, decode, request, options, (error, value) => {
        if (error === null && value !== undefined) return resolve(value);
        if (used === current && isTransport(error)) current++;
        reject(failure(error));
      });
    });

  const retried = async <T>(method: string, request: Uint8Array, decode: (bytes: Uint8Array) => T): Promise<T> => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await once(method, request, decode);
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || attempt >= members.length) throw error;
      }
    }
  };

  return {
    range: (request) => retried('Range', encodeRange(request), decodeRange),
    txn: (request) => once('Txn', encodeTxn(request), decodeTxn),
    compact: (revision) => retried('Compact', encodeCompaction(revision), () => undefined as void),
    watch(request, { response, ended }) {
      const used = current;
      const stream: ClientDuplexStream<Uint8Array, WatchResponse> = member().makeBidiStreamRequest(
        '/etcdserverpb.Watch/Watch',
        asBuffer,
        decodeWatch,
        needsLeader,
      );
      let over = false;
      const end = (error: ServiceError | null): void => {
        if (over) return;
        over = true;
        if (used === current) current++;
        const reason = failure(error);
        ended(reason instanceof StoreUnavailable ? reason : new StoreUnavailable(reason.message, { cause: reason }));
      };
      stream.on('data', (message: WatchResponse) => over || response(message));
      stream.on('error', end);
      stream.on('end', () => end(null));
      stream.write(encodeWatch(request));
      return () => {
        over = true;
        stream.cancel();
      };
    },
    close() {
      for (const each of members) each.close();
    },
  };
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

const isTransport = (error: ServiceError | null): boolean =>
  error === null || error.code === status.UNAVAILABLE || error.code === status.DEADLINE_EXCEEDED;

const refusals: ReadonlySet<status> = new Set([status.INVALID_ARGUMENT, status.RESOURCE_EXHAUSTED]);

/** What its authentication answers to who names no user. */
const userMissing = 'etcdserver: user name is empty';

/** What is told of a failure of the etcd there, and `how` it was asked if it does not answer. */
const failureOf =
  (where: string, how: string) =>
  (error: ServiceError | null): Error => {
    if (error === null) return new StoreUnavailable(`etcd at ${where} ended the answer early`);
    if (error.code === status.OUT_OF_RANGE) {
      return new RevisionOutOfRange(error.details.includes('compacted') ? 'compacted' : 'future');
    }
    const { details } = error;
    if (details === userMissing)
      return new Error(`etcd at ${where} authenticates who asks, which cannot be done here: ${details}`, {
        cause: error,
      });
    // A document that is too large, say, or an etcd that has no room left: it does answer.
    if (refusals.has(error.code)) return new Error(details, { cause: error });
    return new StoreUnavailable(`etcd at ${where} does not answer${how}: ${details}`, { cause: error });
  };
