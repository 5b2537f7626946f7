/**
 * An issuer of JWTs whose tokens are accepted, as in an `AuthenticationConfiguration` (apiserver.config/v1).
 * Expressions are CEL over `claims`, those of `userValidationRules` over `user` (KEP-3331).
 */
export interface JwtIssuer {
  readonly issuer: {
    /** The required value of the claim `iss`. By default, the discovery document is below this URL. */
    readonly url: string;
    /** The URL of the discovery document, if it is not below `url`. */
    readonly discoveryURL?: string;
    /** CAs in PEM that verify the server of the issuer; by default those that Node.js trusts. */
    readonly certificateAuthority?: string;
    /** Audiences, one of which the claim `aud` must contain. */
    readonly audiences: readonly string[];
    readonly audienceMatchPolicy?: string;
  };
  readonly claimValidationRules?: readonly {
    readonly claim?: string;
    readonly requiredValue?: string;
    readonly expression?: string;
    readonly message?: string;
  }[];
  readonly claimMappings: {
    readonly username: PrefixedClaim;
    readonly groups?: PrefixedClaim;
    readonly uid?: { readonly claim?: string; readonly expression?: string };
    readonly extra?: readonly { readonly key?: string; readonly valueExpression?: string }[];
  };
  readonly userValidationRules?: readonly { readonly expression?: string; readonly message?: string }[];
}

export interface PrefixedClaim {
  readonly claim?: string;
  /** Prefix of the value of the claim. An empty one must be given explicitly. */
  readonly prefix?: string;
  readonly expression?: string;
}

/** The contents of the `AuthenticationConfiguration` file. */
export interface AuthenticationConfiguration {
  readonly jwt?: readonly JwtIssuer[];
  /** Whether anonymous requests are accepted; by default as in the other options of the server. */
  readonly anonymous?: AnonymousConfiguration;
}

export interface AnonymousConfiguration {
  readonly enabled: boolean;
  /** Paths for which anonymous requests are accepted; all paths if absent or empty. */
  readonly conditions?: readonly { readonly path: string }[];
}
