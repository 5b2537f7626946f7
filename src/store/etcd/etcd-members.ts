import { type ChannelCredentials, Client, credentials } from '@grpc/grpc-js';
import type { EtcdTls } from './etcd-secrets.js';

const keepAlive = { 'grpc.keepalive_time_ms': 10_000, 'grpc.keepalive_timeout_ms': 5_000 };
// Left to itself, gRPC waits up to two minutes between attempts to connect, and fails what is asked meanwhile.
const reconnect = { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 1_000 };
const unlimited = { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 };
const channelOptions = { ...keepAlive, ...reconnect, ...unlimited };

/** The members of an etcd, over gRPC. One is asked until it fails, and then the next. */
export class EtcdMembers {
  readonly #endpoints: readonly string[];
  #clients: readonly Client[];
  #turn = 0;

  constructor(endpoints: readonly string[]) {
    if (endpoints.length === 0) throw new TypeError('an etcd client needs at least one endpoint');
    this.#endpoints = endpoints;
    this.#clients = clientsOf(endpoints);
  }

  /** Whose turn it is to be asked. */
  get turn(): number {
    return this.#turn;
  }

  at(turn: number): Client {
    const client = this.#clients[turn % this.#clients.length];
    if (client === undefined) throw new TypeError('there is no member');
    return client;
  }

  /** The member of that turn is of no use: the next one is asked from now on, unless it is already. */
  passOver(turn: number): void {
    if (turn === this.#turn) this.#turn++;
  }

  /** Shows this from the next request on; what is under way goes on. Throws if it cannot be used. */
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

/** Whether TLS is spoken with a member. */
export const isSecure = (endpoint: string): boolean => endpoint.startsWith(secureScheme);

function clientsOf(endpoints: readonly string[], tls: EtcdTls = {}): readonly Client[] {
  const pem = (text: string | undefined): Buffer | null => (text === undefined ? null : Buffer.from(text));
  let secure: ChannelCredentials | undefined;
  return endpoints.map((endpoint) => {
    if (!isSecure(endpoint)) return new Client(endpoint, credentials.createInsecure(), channelOptions);
    secure ??= credentials.createSsl(pem(tls.ca), pem(tls.key), pem(tls.certificate));
    return new Client(endpoint.slice(secureScheme.length), secure, channelOptions);
  });
}
