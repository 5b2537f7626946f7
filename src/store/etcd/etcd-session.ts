import type { EtcdLogin } from './etcd-secrets.js';

/** A session of etcd's own authentication: a token, fetched when needed and kept until it expires. */
export class Session {
  readonly #login: EtcdLogin | undefined;
  readonly #authenticate: (login: EtcdLogin) => Promise<string | undefined>;
  #token: Promise<string | undefined> | undefined;

  constructor(login: EtcdLogin | undefined, authenticate: (login: EtcdLogin) => Promise<string | undefined>) {
    this.#login = login;
    this.#authenticate = authenticate;
  }

  /** Returns a token; undefined if no user is configured, or if authentication is disabled in etcd. */
  token(): Promise<string | undefined> {
    if (this.#token !== undefined) return this.#token;
    const token = this.#login === undefined ? Promise.resolve(undefined) : this.#authenticate(this.#login);
    this.#token = token;
    token.catch(() => this.forget(token));
    return token;
  }

  forget(token: Promise<string | undefined>): void {
    if (this.#token === token) this.#token = undefined;
  }
}
