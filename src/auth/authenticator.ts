import type { UserInfo } from '../api/user.js';

/** What a caller presented. */
export interface Credentials {
  /** Every value of a header (lower-case name), in order; repeatable headers keep their repetitions. */
  header(name: string): readonly string[];
  /** Names of all headers, lower case. */
  headerNames(): readonly string[];
  /** Peer certificates of the TLS connection as DER, leaf first; empty without one. Not yet verified. */
  readonly certificates: readonly Buffer[];
  /** Path of the request, decoded and without the query; absent where there is no request, as in a review. */
  readonly path?: string;
  /** Audiences the token must be for; absent: those of the API server. */
  readonly audiences?: readonly string[];
}

export interface Authenticated {
  readonly user: UserInfo;
  /** For audience-aware authenticators: those of the requested audiences the credential is for. */
  readonly audiences?: readonly string[];
  readonly warnings?: readonly string[];
  /** Facts for the audit log. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Says who is calling. undefined: not my kind of credential. Throws AuthenticationError: mine, and not valid. */
export interface Authenticator {
  authenticate(credentials: Credentials): Promise<Authenticated | undefined>;
}

/** Thrown for a credential that is not valid. Has no stack: authenticators that do not recognise a token throw it often. */
export class AuthenticationError extends Error {
  override readonly name = 'AuthenticationError';
  /** Facts for the audit log. */
  readonly annotations: Readonly<Record<string, string>>;

  constructor(
    message: string,
    { annotations = {}, ...options }: ErrorOptions & { readonly annotations?: Readonly<Record<string, string>> } = {},
  ) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = stackTraceLimit;
    this.annotations = annotations;
  }
}
