import type { UserInfo } from '../api/user.js';

/** The credentials that a caller presented. */
export interface Credentials {
  /**
   * Returns every value of a header (lower-case name), in order; headers that were sent repeatedly keep their
   * duplicates.
   */
  header(name: string): readonly string[];
  /** Returns the names of all headers, in lower case. */
  headerNames(): readonly string[];
  /**
   * The certificates of the peer of the TLS connection in DER, leaf first; empty if there are none. They are not
   * verified yet.
   */
  readonly certificates: readonly Buffer[];
  /** The path of the request, decoded and without the query; absent if there is no request, as for a review. */
  readonly path?: string;
  /** The audiences that the token must be for; by default those of the API server. */
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
 * Authenticates a caller. Returns undefined for credentials of other kinds; throws AuthenticationError for an invalid
 * credential of its own kind.
 */
export interface Authenticator {
  authenticate(credentials: Credentials): Promise<Authenticated | undefined>;
}

/**
 * Thrown for an invalid credential. Has no stack, because authenticators often throw it for tokens that they do not
 * recognise.
 */
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
