import type { Domains } from '../api/domains.js';
import { readYaml } from '../api/yaml.js';
import { checkAuthenticationConfiguration } from '../auth/jwt/check-configuration.js';
import { Expressions } from '../auth/jwt/expressions.js';
import type { AuthenticationConfiguration } from '../auth/jwt/jwt-issuer.js';
import { runInTurns } from '../runtime/turn-taking.js';
import { boolean, field, list, optional, string, struct } from '../schema/builder.js';
import { checkConfiguration, configurationVersions, decodeConfiguration } from '../schema/configuration-file.js';

/** Reads the file with the issuers of JWTs: kind AuthenticationConfiguration of Kubernetes. */

const prefixedClaim = struct('PrefixedClaimOrExpression', {
  claim: field(1, string()),
  prefix: optional(2, string()),
  expression: field(3, string()),
});
const claimOrExpression = struct('ClaimOrExpression', {
  claim: field(1, string()),
  expression: field(2, string()),
});

const jwt = struct('JWTAuthenticator', {
  issuer: field(
    1,
    struct('Issuer', {
      url: field(1, string()),
      discoveryURL: field(2, string()),
      certificateAuthority: field(3, string()),
      audiences: field(4, list(string())),
      audienceMatchPolicy: field(5, string()),
    }),
    { presence: 'always' },
  ),
  claimValidationRules: field(
    2,
    list(
      struct('ClaimValidationRule', {
        claim: field(1, string()),
        requiredValue: field(2, string()),
        expression: field(3, string()),
        message: field(4, string()),
      }),
    ),
  ),
  claimMappings: field(
    3,
    struct('ClaimMappings', {
      username: field(1, prefixedClaim, { presence: 'always' }),
      groups: field(2, prefixedClaim),
      uid: field(3, claimOrExpression),
      extra: field(4, list(struct('ExtraMapping', { key: field(1, string()), valueExpression: field(2, string()) }))),
    }),
    { presence: 'always' },
  ),
  userValidationRules: field(
    4,
    list(struct('UserValidationRule', { expression: field(1, string()), message: field(2, string()) })),
  ),
});

const schema = struct('AuthenticationConfiguration', {
  apiVersion: field(1, string()),
  kind: field(2, string()),
  jwt: field(3, list(jwt)),
  anonymous: optional(
    4,
    struct('AnonymousAuthConfig', {
      enabled: field(1, boolean(), { presence: 'always' }),
      conditions: field(2, list(struct('AnonymousAuthCondition', { path: field(1, string()) }))),
    }),
  ),
});

const versions = ['v1', 'v1beta1', 'v1alpha1'] as const;

export interface ReadConfiguration extends AuthenticationConfiguration {
  readonly expressions: Expressions;
}

/**
 * Parses YAML or JSON. Unknown and repeated fields are rejected. Throws Error with all problems; `ownIssuers` are those
 * of this server's own tokens.
 */
export async function readAuthenticationConfiguration(
  text: string,
  { domains, ownIssuers }: { readonly domains: Domains; readonly ownIssuers: readonly string[] },
): Promise<ReadConfiguration> {
  const read = await readYaml(text);
  const configuration = decodeConfiguration(schema, read, {
    kind: 'AuthenticationConfiguration',
    versions: configurationVersions(domains, versions),
  }) as object as AuthenticationConfiguration;
  const expressions = await runInTurns(Expressions.of(configuration.jwt ?? []));
  checkConfiguration(checkAuthenticationConfiguration(configuration, { ownIssuers, domains, expressions }));
  return { ...configuration, expressions };
}
