/**
 * One issuer of JWTs whose tokens are accepted, as `AuthenticationConfiguration` says it (apiserver.config/v1). Expressions
 * are CEL about `claims`, those of `userValidationRules` about `user` (KEP-3331).
 */
export interface JwtIssuer {
  readonly issuer: {
    /** The required value of the claim `iss`. Discovery starts below it. */
    readonly url: string;
    /** The URL of the discovery document, if it is not below `url`. */
    readonly discoveryURL?: string;
    /** PEM of what verifies the issuer's server; absent: what Node trusts. */
    readonly certificateAuthority?: string;
    /** The claim `aud` must have one of them. */
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
  /** The prefix of the claim's value. An empty one must be given explicitly. */
  readonly prefix?: string;
  readonly expression?: string;
}

/** The contents of the `AuthenticationConfiguration` file. */
export interface AuthenticationConfiguration {
  readonly jwt?: readonly JwtIssuer[];
  /** Absent: as the server's other options say. */
  readonly anonymous?: AnonymousConfiguration;
}

export interface AnonymousConfiguration {
  readonly enabled: boolean;
  /** Absent or empty: every path. */
  readonly conditions?: readonly { readonly path: string }[];
}
