import type { IncomingHttpHeaders } from 'node:http';
import { type ClientHttp2Session, connect, type Settings } from 'node:http2';
import { Agent, type RequestOptions, request } from 'node:https';
import { createServer, type Server } from '../../src/embed.js';
import type { Logger } from '../../src/runtime/logger.js';
import type { ServerOptions } from '../../src/server/options.js';
import { MemoryStore } from '../../src/store/memory/memory-store.js';
import type { Store } from '../../src/store/store.js';

/** The tokens of callers: a member of system:masters, and an ordinary user. Everything is allowed to both. */
const tokens = 'root-token,root,1,"system:masters"\nalice-token,alice,2\n';
export type Caller = 'root' | 'alice' | 'nobody';

export interface Answer {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/**
 * Starts a server over sockets, with access to its log lines, and to a store whose reads can be delayed or made to
 * fail.
 */
export async function runningServer(options: ServerOptions = {}) {
  const store = new HeldStore(new MemoryStore());
  const lines: { readonly level: string; readonly message: string; readonly fields: object }[] = [];
  const at =
    (level: string) =>
    (fields: object, message: string): void =>
      void lines.push({ level, message, fields });
  const log: Logger = { debug: () => {}, info: at('info'), warn: at('warn'), error: at('error'), child: () => log };
  const server: Server = await createServer({
    listen: {},
    controllers: [],
    authorization: 'AlwaysAllow',
    staticTokens: tokens,
    store,
    log,
    ...options,
  });
  const url = server.url ?? '';
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
  const headersOf = (caller: Caller): Record<string, string> =>
    caller === 'nobody' ? {} : { authorization: `Bearer ${caller}-token` };
  return {
    server,
    url,
    store,
    lines,
    headersOf,
    /** Sends a request over HTTP/1.1. */
    ask: (caller: Caller, line: string, body?: object, more: RequestOptions = {}): Promise<Answer> =>
      new Promise((resolve, reject) => {
        const [method = '', path = ''] = line.split(' ');
        const text = body === undefined ? '' : JSON.stringify(body);
        const headers = {
          ...headersOf(caller),
          ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': text.length }),
        };
        const sent = request(`${url}${path}`, { agent, method, ...more, headers: { ...headers, ...more.headers } });
        sent.on('error', reject);
        sent.on('response', (response) => {
          let answer = '';
          response.on('data', (chunk) => (answer += chunk));
          response.on('error', reject);
          response.on('end', () =>
            resolve({ code: response.statusCode ?? 0, headers: response.headers, text: answer }),
          );
        });
        sent.end(text);
      }),
    http2: (settings: Settings = {}): ClientHttp2Session => {
      const session = connect(url, { rejectUnauthorized: false, settings });
      session.on('error', () => {});
      return session;
    },
    async [Symbol.asyncDispose]() {
      store.release();
      agent.destroy();
      await server.stop();
    },
  };
}

/** A memory store in which reads of a key can be delayed or made to fail. */
class HeldStore implements Store {
  readonly #store: Store;
  #held = new Map<string, () => Promise<void>>();
  #waiting: (() => void)[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  /** Makes reads of this key wait from now on. */
  hold(key: string): void {
    this.#held.set(key, () => new Promise((resolve) => this.#waiting.push(resolve)));
  }

  fail(key: string, error: unknown): void {
    this.#held.set(key, () => Promise.reject(error));
  }

  /** The number of waiting reads. */
  get waiting(): number {
    return this.#waiting.length;
  }

  release(): void {
    this.#held.clear();
    for (const resume of this.#waiting.splice(0)) resume();
  }

  async get(key: string) {
    await this.#held.get(key)?.();
    return this.#store.get(key);
  }

  scan = (...given: Parameters<Store['scan']>) => this.#store.scan(...given);
  commit = (...given: Parameters<Store['commit']>) => this.#store.commit(...given);
  changes = (...given: Parameters<Store['changes']>) => this.#store.changes(...given);
  revision = () => this.#store.revision();
  close = () => this.#store.close();
}

export const configMap = (name: string): object => ({ metadata: { name }, data: { a: 'b' } });
export const configMaps = '/api/v1/namespaces/default/configmaps';
export const keyOfConfigMap = (name: string): string => `core/configmaps/default/${name}`;
