import type { UserInfo } from '../api/user.js';

/** The credentials that a caller presented. */
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
  /** The requested audiences that the credential is for, if the authenticator is aware of audiences. */
  readonly audiences?: readonly string[];
  readonly warnings?: readonly string[];
  /** Facts for the audit log. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * Authenticates a caller. Returns undefined for credentials of other kinds; throws AuthenticationError for an invalid one
 * of its own kind.
 */
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
