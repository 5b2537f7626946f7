import { Metadata } from '@grpc/grpc-js';
import { systemClock } from '../../runtime/clock.js';
import { StoreUnavailable } from '../store-unavailable.js';
import { asBuffer } from '../wire.js';
import { failureOf, isTransport, notEnabled, Unauthenticated } from './etcd-failures.js';
import { EtcdMembers, isSecure } from './etcd-members.js';
import type { EtcdLogin, EtcdSecrets } from './etcd-secrets.js';
import { Session } from './etcd-session.js';
import { type MemberConnection, openWatch, type WatchHandlers } from './etcd-watch-stream.js';
import {
  decodeAuthentication,
  decodeRange,
  decodeTxn,
  encodeAuthentication,
  encodeCompaction,
  encodeRange,
  encodeTxn,
  type RangeRequest,
  type RangeResponse,
  type TxnRequest,
  type TxnResponse,
  type WatchRequest,
} from './messages.js';

export interface EtcdClientOptions {
  /** `HOST:PORT` of each member, after `https://` for TLS. One is used until it fails. */
  readonly endpoints: readonly string[];
  /** The timeout of a request, in milliseconds, with the time that it waits for a connection; default 10 seconds. */
  readonly timeoutMs?: number;
}

/** The part of etcd's v3 API that the store needs, over gRPC. Fails with StoreUnavailable when no member answers. */
export interface EtcdClient {
  range(request: RangeRequest): Promise<RangeResponse>;
  /** Tried once: after StoreUnavailable it is unknown whether the transaction was executed. */
  txn(request: TxnRequest): Promise<TxnResponse>;
  compact(revision: bigint): Promise<void>;
  /** Starts a watch and returns the function that stops it. */
  watch(request: WatchRequest, handlers: WatchHandlers): () => void;
  /** Uses these secrets from the next request on; requests in progress continue. Throws if they cannot be used. */
  use(secrets: EtcdSecrets): void;
  close(): void;
}

/** How long a request without a connection may take to fail. */
const reasonMs = 100;

type Decode<T> = (bytes: Uint8Array) => T;

export function createEtcdClient({ endpoints, timeoutMs = 10_000 }: EtcdClientOptions): EtcdClient {
  const members = new EtcdMembers(endpoints, timeoutMs);
  let session = new Session(undefined, authenticate);
  const where = endpoints.join(',');
  const failure = failureOf(where, endpoints.every(isSecure) ? '' : ' (it was asked without TLS)');

  const once = async <T>(
    path: string,
    request: Uint8Array,
    decode: Decode<T>,
    metadata = new Metadata(),
  ): Promise<T> => {
    const deadline = Date.now() + timeoutMs;
    await members.connected(deadline);
    return new Promise((resolve, reject) => {
      const { turn } = members;
      // Without a connection the request fails with the reason for that.
      const options = { deadline: Math.max(deadline, Date.now() + reasonMs) };
      const member = members.at(turn);
      member.makeUnaryRequest(`/etcdserverpb.${path}`, asBuffer, decode, request, metadata, options, (error, value) => {
        if (error === null && value !== undefined) return resolve(value);
        if (isTransport(error)) members.passOver(turn);
        reject(failure(error));
      });
    });
  };

  const retried = async <T>(call: () => Promise<T>): Promise<T> => {
    const begun = systemClock.monotonic();
    for (let attempt = 0; ; attempt++) {
      try {
        return await call();
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || attempt >= endpoints.length) throw error;
        // The time that a request waits for a connection is spent once.
        if (members.connectedAt < begun && systemClock.monotonic() >= begun + timeoutMs) throw error;
      }
    }
  };

  async function authenticate(login: EtcdLogin): Promise<string | undefined> {
    try {
      return await retried(() => once('Auth/Authenticate', encodeAuthentication(login), decodeAuthentication));
    } catch (error) {
      if (!(error instanceof Error) || error instanceof StoreUnavailable) throw error;
      if (error.message === notEnabled) return undefined;
      throw new Error(`etcd at ${where} rejects the user ${login.user}: ${error.message}`, { cause: error });
    }
  }

  const call = async <T>(method: string, request: Uint8Array, decode: Decode<T>): Promise<T> => {
    const used = session;
    const token = used.token();
    try {
      return await once(`KV/${method}`, request, decode, metadataOf(await token));
    } catch (error) {
      if (!(error instanceof Unauthenticated)) throw error;
      used.forget(token);
      return once(`KV/${method}`, request, decode, metadataOf(await session.token()));
    }
  };

  /** Returns a member for a watch, with the metadata that authenticates the user. */
  const reach = async (): Promise<MemberConnection> => {
    const used = session;
    const token = used.token();
    const metadata = metadataOf(await token);
    const { turn } = members;
    return {
      member: members.at(turn),
      metadata,
      refused: () => used.forget(token),
      failed(error) {
        members.passOver(turn);
        used.forget(token);
        return failure(error);
      },
    };
  };

  return {
    range: (request) => retried(() => call('Range', encodeRange(request), decodeRange)),
    txn: (request) => call('Txn', encodeTxn(request), decodeTxn),
    async compact(revision) {
      // The response holds nothing of use; undefined and null would mean no response.
      await retried(() => call('Compact', encodeCompaction(revision), () => ({})));
    },
    watch: (request, handlers) => openWatch(request, handlers, { reach, beginMs: timeoutMs }),
    use({ tls, login }) {
      members.use(tls);
      session = new Session(login, authenticate);
    },
    close: () => members.close(),
  };
}

function metadataOf(token: string | undefined): Metadata {
  const metadata = new Metadata();
  if (token !== undefined) metadata.set('token', token);
  return metadata;
}
