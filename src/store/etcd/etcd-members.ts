import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import { type ChannelCredentials, Client, connectivityState, credentials, type VerifyOptions } from '@grpc/grpc-js';
import { splitHost } from '../../api/go-url.js';
import { systemClock } from '../../runtime/clock.js';
import type { EtcdTls } from './etcd-secrets.js';

const keepAlive = { 'grpc.keepalive_time_ms': 10_000, 'grpc.keepalive_timeout_ms': 5_000 };
// By default, gRPC waits up to two minutes between attempts to connect, and fails requests meanwhile.
const reconnect = { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 1_000 };
const unlimited = { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 };
// A new client must not wait for the connection attempt of the one that it replaces.
const unshared = { 'grpc.use_local_subchannel_pool': 1 };
const channelOptions = { ...keepAlive, ...reconnect, ...unlimited, ...unshared };

/** How long one member is waited for before the next, in milliseconds. */
const turnMs = 250;

/** A member with its client. */
interface Member {
  readonly endpoint: string;
  readonly client: Client;
  /** When the client was made, by the monotonic clock. */
  readonly since: number;
}

/** The members of an etcd, over gRPC. One is used until it fails, and then the next. */
export class EtcdMembers {
  readonly #connectMs: number;
  #connect = connector();
  #members: Member[];
  #turn = 0;
  #isClosed = false;
  #connectedAt = Number.NEGATIVE_INFINITY;

  /** `connectMs` is how long connecting to a member may take, in milliseconds. */
  constructor(endpoints: readonly string[], connectMs: number) {
    if (endpoints.length === 0) throw new TypeError('an etcd client needs at least one endpoint');
    this.#connectMs = connectMs;
    this.#members = endpoints.map((endpoint) => memberAt(endpoint, this.#connect));
  }

  /** The turn of the member in use; it counts how often the client has moved on to the next member. */
  get turn(): number {
    return this.#turn;
  }

  at(turn: number): Client {
    return this.#member(turn).client;
  }

  /** When a request last found a member connected, by the monotonic clock. */
  get connectedAt(): number {
    return this.#connectedAt;
  }

  /**
   * Resolves once the member in use is connected, or another, which is then used, or when the time is up: an etcd that
   * restarts is back within seconds.
   */
  async connected(deadline: number): Promise<void> {
    const before = this.#turn;
    let turn = before;
    // One after another: a member that was just passed over may still be connected.
    while (!isReady(this.at(turn)) && !(await isReadyBy(this.at(turn), Math.min(deadline, Date.now() + turnMs)))) {
      if (this.#isClosed || Date.now() >= deadline) return;
      turn++;
    }
    if (before === this.#turn) this.#turn = turn;
    this.#connectedAt = systemClock.monotonic();
  }

  /**
   * Moves on from the member of that turn to the next one, unless that has happened already. gRPC waits without limit
   * for a member that accepts a connection and says nothing, so one that is not connected in time is connected to anew.
   */
  passOver(turn: number): void {
    if (turn === this.#turn) this.#turn++;
    const member = this.#member(turn);
    if (systemClock.monotonic() - member.since < this.#connectMs) return;
    if (isReady(member.client)) return;
    this.#members[turn % this.#members.length] = memberAt(member.endpoint, this.#connect);
    member.client.close();
  }

  /** Uses these certificates from the next request on; requests in progress continue. Throws if they cannot be used. */
  use(tls: EtcdTls | undefined): void {
    const before = this.#members;
    const connect = connector(tls);
    this.#members = before.map(({ endpoint }) => memberAt(endpoint, connect));
    this.#connect = connect;
    for (const { client } of before) client.close();
  }

  close(): void {
    this.#isClosed = true;
    for (const { client } of this.#members) client.close();
  }

  #member(turn: number): Member {
    const member = this.#members[turn % this.#members.length];
    if (member === undefined) throw new TypeError('no members');
    return member;
  }
}

const isReady = (client: Client): boolean =>
  client.getChannel().getConnectivityState(false) === connectivityState.READY;

/** Resolves with true once a client is connected; with false when the time is up or it is closed. */
const isReadyBy = (client: Client, deadline: number): Promise<boolean> =>
  new Promise((resolve) => client.waitForReady(deadline, (error) => resolve(error === undefined)));

const memberAt = (endpoint: string, connect: (endpoint: string) => Client): Member => ({
  endpoint,
  client: connect(endpoint),
  since: systemClock.monotonic(),
});

const secureScheme = 'https://';

/** Whether the connection to a member uses TLS. */
export const isSecure = (endpoint: string): boolean => endpoint.startsWith(secureScheme);

/** Returns a function that makes the client of a member; it throws if the secrets cannot be used. */
function connector(tls: EtcdTls = {}): (endpoint: string) => Client {
  const pem = (text: string | undefined): Buffer | null => (text === undefined ? null : Buffer.from(text));
  const secured = (options?: VerifyOptions): ChannelCredentials =>
    credentials.createSsl(pem(tls.ca), pem(tls.key), pem(tls.certificate), options);
  let named: ChannelCredentials | undefined;
  return (endpoint) => {
    if (!isSecure(endpoint)) return new Client(endpoint, credentials.createInsecure(), channelOptions);
    const target = endpoint.slice(secureScheme.length);
    const { name } = splitHost(target);
    if (isIP(name) === 0) {
      named ??= secured();
      return new Client(target, named, channelOptions);
    }
    const addressed = secured({ checkServerIdentity: (_, shown) => checkServerIdentity(name, shown) });
    return new Client(target, addressed, { ...channelOptions, 'grpc.ssl_target_name_override': nameOfAddress });
  };
}

/**
 * The TLS server name for members given by IP address: server names cannot be addresses (RFC 6066), and Node.js 26
 * rejects an address that the library passes as one. The certificate must still be valid for the address.
 */
const nameOfAddress = 'etcd.invalid';
