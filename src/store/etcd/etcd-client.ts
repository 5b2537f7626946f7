import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { StoreUnavailable } from '../store-unavailable.js';
import { asBuffer } from '../wire.js';
import type { EtcdLogin, EtcdSecrets, EtcdTls } from './etcd-secrets.js';
import { Session } from './etcd-session.js';
import {
  decodeAuthentication,
  decodeRange,
  decodeTxn,
  decodeWatch,
  encodeAuthentication,
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

export interface EtcdClientOptions {
  /** `HOST:PORT` of each member, after `https://` where TLS is spoken; one is used until it fails. */
  readonly endpoints: readonly string[];
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

/** etcd did nothing, because it does not know, or no longer, who asks. */
class Unauthenticated extends Error {
  override readonly name = 'Unauthenticated';
}

interface WatchHandlers {
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
  /** Uses these secrets from the next request on; what is under way goes on. Throws if they cannot be used. */
  use(secrets: EtcdSecrets): void;
  close(): void;
}

const keepAlive = { 'grpc.keepalive_time_ms': 10_000, 'grpc.keepalive_timeout_ms': 5_000 };
// Left to itself, gRPC waits up to two minutes between attempts to connect, and fails what is asked meanwhile.
const reconnect = { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 1_000 };
const unlimited = { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 };
const channelOptions = { ...keepAlive, ...reconnect, ...unlimited };

type Decode<T> = (bytes: Uint8Array) => T;

export function createEtcdClient({ endpoints, timeoutMs = 10_000 }: EtcdClientOptions): EtcdClient {
  if (endpoints.length === 0) throw new TypeError('an etcd client needs at least one endpoint');
  let current = 0;
  let members = membersOf(endpoints);
  let session = new Session(undefined, authenticate);
  const where = endpoints.join(',');
  const failure = failureOf(where, endpoints.every(isSecure) ? '' : ' (it was asked without TLS)');

  const once = <T>(path: string, request: Uint8Array, decode: Decode<T>, metadata = new Metadata()): Promise<T> =>
    new Promise((resolve, reject) => {
      const used = current;
      const options = { deadline: Date.now() + timeoutMs };
      const member = memberAt(members, used);
      member.makeUnaryRequest(`/etcdserverpb.${path}`, asBuffer, decode, request, metadata, options, (error, value) => {
        if (error === null && value !== undefined) return resolve(value);
        if (used === current && isTransport(error)) current++;
        reject(failure(error));
      });
    });

  const retried = async <T>(call: () => Promise<T>): Promise<T> => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await call();
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || attempt >= endpoints.length) throw error;
      }
    }
  };

  async function authenticate(login: EtcdLogin): Promise<string | undefined> {
    try {
      return await retried(() => once('Auth/Authenticate', encodeAuthentication(login), decodeAuthentication));
    } catch (error) {
      if (!(error instanceof Error) || error instanceof StoreUnavailable) throw error;
      if (error.message === notEnabled) return undefined;
      throw new Error(`etcd at ${where} refuses the user ${login.user}: ${error.message}`, { cause: error });
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

  return {
    range: (request) => retried(() => call('Range', encodeRange(request), decodeRange)),
    txn: (request) => call('Txn', encodeTxn(request), decodeTxn),
    async compact(revision) {
      // Nothing in it is of use; undefined and null stand for no answer.
      await retried(() => call('Compact', encodeCompaction(revision), () => ({})));
    },
    watch: (request, handlers) =>
      openWatch(request, handlers, async () => {
        const usedSession = session;
        const token = usedSession.token();
        const metadata = metadataOf(await token);
        const used = current;
        return {
          member: memberAt(members, used),
          metadata,
          refused: () => usedSession.forget(token),
          failed(error) {
            if (used === current) current++;
            usedSession.forget(token);
            return failure(error);
          },
        };
      }),
    use({ tls, login }) {
      const before = members;
      members = membersOf(endpoints, tls);
      session = new Session(login, authenticate);
      for (const each of before) each.close();
    },
    close() {
      for (const each of members) each.close();
    },
  };
}

/** A member that can be asked, with what it is to be shown. */
interface Reached {
  readonly member: Client;
  readonly metadata: Metadata;
  /** What it was shown counts no more. */
  refused(): void;
  /** It is of no use: the next one is asked from now on. Null: it ended what was asked. */
  failed(error: ServiceError | null): Error;
}

/** Watches until it is told to stop, which it answers how to do, or until the member that is watched fails. */
function openWatch(
  request: WatchRequest,
  { response, ended }: WatchHandlers,
  reach: () => Promise<Reached>,
): () => void {
  let stream: ClientDuplexStream<Uint8Array, WatchResponse> | undefined;
  let over = false;
  const end = (error: Error): void => {
    if (over) return;
    over = true;
    ended(error instanceof StoreUnavailable ? error : new StoreUnavailable(error.message, { cause: error }));
  };
  const begin = async (): Promise<void> => {
    const { member, metadata, refused, failed } = await reach();
    if (over) return;
    // A member that has lost the others ends the watch, instead of saying nothing for as long as that lasts.
    metadata.set('hasleader', 'true');
    stream = member.makeBidiStreamRequest('/etcdserverpb.Watch/Watch', asBuffer, decodeWatch, metadata);
    stream.on('data', (message: WatchResponse) => {
      if (over) return;
      // Of a token that counts no more it is said that the right is missing.
      if (message.canceled) refused();
      response(message);
    });
    const fail = (error: ServiceError | null): void => {
      if (!over) end(failed(error));
    };
    stream.on('error', fail);
    stream.on('end', () => fail(null));
    stream.write(encodeWatch(request));
  };
  begin().catch(end);
  return () => {
    over = true;
    stream?.cancel();
  };
}

const secureScheme = 'https://';

/** Whether TLS is spoken with a member. */
export const isSecure = (endpoint: string): boolean => endpoint.startsWith(secureScheme);

function membersOf(endpoints: readonly string[], tls: EtcdTls = {}): readonly Client[] {
  const pem = (text: string | undefined): Buffer | null => (text === undefined ? null : Buffer.from(text));
  let secure: ChannelCredentials | undefined;
  return endpoints.map((endpoint) => {
    if (!isSecure(endpoint)) return new Client(endpoint, credentials.createInsecure(), channelOptions);
    secure ??= credentials.createSsl(pem(tls.ca), pem(tls.key), pem(tls.certificate));
    return new Client(endpoint.slice(secureScheme.length), secure, channelOptions);
  });
}

function memberAt(members: readonly Client[], turn: number): Client {
  const member = members[turn % members.length];
  if (member === undefined) throw new TypeError('there is no member');
  return member;
}

function metadataOf(token: string | undefined): Metadata {
  const metadata = new Metadata();
  if (token !== undefined) metadata.set('token', token);
  return metadata;
}

const isTransport = (error: ServiceError | null): boolean =>
  error === null || error.code === status.UNAVAILABLE || error.code === status.DEADLINE_EXCEEDED;

/** What etcd answers who asks without a token that counts, after which it is certain that nothing happened. */
const unauthenticated: ReadonlySet<string> = new Set([
  'etcdserver: user name is empty',
  'etcdserver: invalid auth token',
  'etcdserver: revision of auth store is old',
]);
const notEnabled = 'etcdserver: authentication is not enabled';

const refusals: ReadonlySet<status> = new Set([
  status.INVALID_ARGUMENT,
  status.RESOURCE_EXHAUSTED,
  status.FAILED_PRECONDITION,
]);

/** What is told of a failure of the etcd there, and `how` it was asked if it does not answer. */
const failureOf =
  (where: string, how: string) =>
  (error: ServiceError | null): Error => {
    if (error === null) return new StoreUnavailable(`etcd at ${where} ended the answer early`);
    const { code, details } = error;
    if (code === status.OUT_OF_RANGE)
      return new RevisionOutOfRange(details.includes('compacted') ? 'compacted' : 'future');
    if (unauthenticated.has(details))
      return new Unauthenticated(`etcd at ${where} wants a user (etcd.user): ${details}`);
    if (code === status.PERMISSION_DENIED) return new Error(`etcd at ${where} does not allow it: ${details}`);
    // A document that is too large, say, or an etcd that has no room left: it does answer.
    if (refusals.has(code)) return new Error(details, { cause: error });
    // The library ends it with notes of its resolver, of which there are none for most addresses.
    const why = details.replace(/\. Resolution note: $/, '');
    return new StoreUnavailable(`etcd at ${where} does not answer${how}: ${why}`, { cause: error });
  };
