/** Where a server is, how to know it, and who to be there. */
export interface ClusterAccess {
  /** `https://host:port[/path]` */
  readonly server: string;
  /** PEM of what verifies the server; absent: what Node trusts. */
  readonly ca?: string | undefined;
  /** Do not verify the server. */
  readonly insecure?: boolean;
  /** The name the server's certificate must have, if not the host's. */
  readonly serverName?: string | undefined;
  /** Namespace of the context; for programs that want a default. */
  readonly namespace?: string | undefined;
  readonly credentials: CredentialSource;
  /** Further headers of every request, such as those of impersonation. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

/** What is shown to a server: a header, a certificate, both or nothing. */
export interface ClientCredentials {
  /** Value of the Authorization header. */
  readonly authorization?: string | undefined;
  /** PEM of a TLS client certificate and its key. */
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
}

/** Where credentials come from that change while a client runs. */
export interface CredentialSource {
  /** What to present now; cheap to ask before every request. */
  current(): Promise<ClientCredentials>;
  /**
   * The server refused what was presented: the next `current` finds out anew, unless it knows something else already. True
   * if that can make a difference.
   */
  refused(presented: ClientCredentials): boolean;
}

/** Credentials that never change. */
export const fixedCredentials = (credentials: ClientCredentials): CredentialSource => ({
  current: async () => credentials,
  refused: () => false,
});

/** A way to reach a server cannot be found or understood. The message says where to look. */
export class AccessError extends Error {
  override readonly name = 'AccessError';
}
