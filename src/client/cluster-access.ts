/** The address of a server, how to verify it, and the client's identity. */
export interface ClusterAccess {
  /** `https://host:port[/path]` */
  readonly server: string;
  /** The CAs that verify the server, in PEM. Default: those that Node.js trusts. */
  readonly ca?: string | undefined;
  /** Do not verify the server. */
  readonly insecure?: boolean;
  /** The name expected in the server's certificate, if not the host's. */
  readonly serverName?: string | undefined;
  /** The namespace of the context, for programs that use it as a default. */
  readonly namespace?: string | undefined;
  readonly credentials: CredentialSource;
  /** Additional headers of every request, such as those for impersonation. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

/** The credentials presented to a server: a header, a certificate, both or nothing. */
export interface ClientCredentials {
  /** The value of the Authorization header. */
  readonly authorization?: string | undefined;
  /** A TLS client certificate and its key, in PEM. */
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
}

/** A source of credentials that may change while a client runs. */
export interface CredentialSource {
  /** Returns the credentials to present now. Cheap enough to be called for every request. */
  current(): Promise<ClientCredentials>;
  /**
   * Called when the server rejected the presented credentials: the next `current` fetches new ones, unless they have
   * been replaced already. Returns whether a retry may succeed.
   */
  refused(presented: ClientCredentials): boolean;
}

/** Returns a source of credentials that never change. */
export const fixedCredentials = (credentials: ClientCredentials): CredentialSource => ({
  current: async () => credentials,
  refused: () => false,
});

/** Thrown when the configuration for reaching a server is missing or invalid. The message names its source. */
export class AccessError extends Error {
  override readonly name = 'AccessError';
}
