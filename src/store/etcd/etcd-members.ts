import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import { type ChannelCredentials, Client, credentials, type VerifyOptions } from '@grpc/grpc-js';
import { splitHost } from '../../api/go-url.js';
import type { EtcdTls } from './etcd-secrets.js';

const keepAlive = { 'grpc.keepalive_time_ms': 10_000, 'grpc.keepalive_timeout_ms': 5_000 };
// By default, gRPC waits up to two minutes between attempts to connect, and fails requests meanwhile.
const reconnect = { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 1_000 };
const unlimited = { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 };
const channelOptions = { ...keepAlive, ...reconnect, ...unlimited };

/** The members of an etcd, over gRPC. One is used until it fails, and then the next. */
export class EtcdMembers {
  readonly #endpoints: readonly string[];
  #clients: readonly Client[];
  #turn = 0;

  constructor(endpoints: readonly string[]) {
    if (endpoints.length === 0) throw new TypeError('an etcd client needs at least one endpoint');
    this.#endpoints = endpoints;
    this.#clients = clientsOf(endpoints);
  }

  /** The turn of the member in use; it counts how often the client has moved on to the next member. */
  get turn(): number {
    return this.#turn;
  }

  at(turn: number): Client {
    const client = this.#clients[turn % this.#clients.length];
    if (client === undefined) throw new TypeError('no members');
    return client;
  }

  /** Moves on from the member of that turn to the next one, unless that has happened already. */
  passOver(turn: number): void {
    if (turn === this.#turn) this.#turn++;
  }

  /** Uses these certificates from the next request on; requests in progress continue. Throws if they cannot be used. */
  use(tls: EtcdTls | undefined): void {
    const before = this.#clients;
    this.#clients = clientsOf(this.#endpoints, tls);
    for (const each of before) each.close();
  }

  close(): void {
    for (const each of this.#clients) each.close();
  }
}

const secureScheme = 'https://';

/** Whether the connection to a member uses TLS. */
export const isSecure = (endpoint: string): boolean => endpoint.startsWith(secureScheme);

function clientsOf(endpoints: readonly string[], tls: EtcdTls = {}): readonly Client[] {
  const pem = (text: string | undefined): Buffer | null => (text === undefined ? null : Buffer.from(text));
  const secured = (options?: VerifyOptions): ChannelCredentials =>
    credentials.createSsl(pem(tls.ca), pem(tls.key), pem(tls.certificate), options);
  let named: ChannelCredentials | undefined;
  return endpoints.map((endpoint) => {
    if (!isSecure(endpoint)) return new Client(endpoint, credentials.createInsecure(), channelOptions);
    const target = endpoint.slice(secureScheme.length);
    const { name } = splitHost(target);
    if (isIP(name) === 0) {
      named ??= secured();
      return new Client(target, named, channelOptions);
    }
    const addressed = secured({ checkServerIdentity: (_, shown) => checkServerIdentity(name, shown) });
    return new Client(target, addressed, { ...channelOptions, 'grpc.ssl_target_name_override': nameOfAddress });
  });
}

/**
 * The TLS server name for members given by IP address: server names cannot be addresses (RFC 6066), and Node.js 26
 * rejects an address that the library passes as one. The certificate must still be valid for the address.
 */
const nameOfAddress = 'etcd.invalid';
