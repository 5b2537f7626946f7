import type { Domains } from '../api/domains.js';
import type { AnonymousPolicy } from '../auth/anonymous.js';
import { forApiAudiences } from '../auth/audience-agnostic.js';
import type { AuthenticationMetrics } from '../auth/authentication-metrics.js';
import { unionTokenAuthenticator } from '../auth/authenticator-union.js';
import type { TokenAuthenticator } from '../auth/bearer-token.js';
import type { FetchText } from '../auth/jwt/fetch-text.js';
import type { AnonymousConfiguration } from '../auth/jwt/jwt-issuer.js';
import { type JwtTokens, jwtTokens } from '../auth/jwt/jwt-tokens.js';
import { followConfiguration } from '../runtime/configuration-metrics.js';
import { type FollowOptions, NotYet, type TextSource } from '../runtime/text-source.js';
import { type ReadConfiguration, readAuthenticationConfiguration } from './authentication-configuration.js';

export interface ExternalTokenOptions {
  /** An AuthenticationConfiguration, as YAML. */
  readonly configuration?: TextSource | undefined;
  /** The policy about anonymous requests if the configuration has none. */
  readonly anonymous: AnonymousPolicy;
  /** The issuers of this server's own tokens, which the configuration must not name. */
  readonly issuers: readonly string[];
  readonly apiAudiences: readonly string[];
  /** Fetches documents of issuers; by default over HTTPS. */
  readonly fetch?: FetchText | undefined;
  readonly metrics?: AuthenticationMetrics | undefined;
}

export interface ExternalTokens {
  /** Authenticates tokens of the issuers that are configured now. */
  readonly tokens: TokenAuthenticator;
  anonymous(): AnonymousPolicy;
}

/** How long to wait for new issuers while the server is running, and how often to retry, in milliseconds. */
const patienceMs = 60_000;
const tryAgainMs = 10_000;

/**
 * Opens the JWT issuers and the policy about anonymous requests of an AuthenticationConfiguration. A configuration that
 * is changed while the server runs takes effect once its issuers have been reached, so that a mistake in it locks out
 * no callers.
 */
export async function openExternalTokens(
  options: ExternalTokenOptions,
  context: FollowOptions & { readonly domains: Domains },
): Promise<ExternalTokens> {
  const { configuration, apiAudiences, issuers, fetch, metrics } = options;
  const { domains, clock, log } = context;
  let tokens = unionTokenAuthenticator();
  let anonymous = options.anonymous;
  /** The issuers by the text of their configuration. */
  let known: ReadonlyMap<string, JwtTokens> = new Map();
  let urls: readonly string[] = [];

  const open = ({ jwt = [], expressions }: ReadConfiguration): typeof known =>
    new Map(
      jwt.map((one) => {
        const text = JSON.stringify(one);
        const counted = metrics?.issuer(one.issuer.url);
        // An issuer with an unchanged configuration keeps its keys, because it may be unreachable now.
        const before = known.get(text);
        return [text, before ?? jwtTokens(one, { expressions, domains, clock, log, fetch, metrics: counted })];
      }),
    );
  const take = async (text: string, isFirst: boolean): Promise<void> => {
    const found = await readAuthenticationConfiguration(text, { domains, ownIssuers: issuers });
    const opened = open(found);
    const added = [...opened].flatMap(([one, its]) => (known.has(one) ? [] : [its]));
    if (isFirst) for (const one of added) void one.warm();
    else await Promise.all(added.map((one) => untilReached(one, context)));
    known = opened;
    urls = (found.jwt ?? []).map(({ issuer }) => issuer.url);
    tokens = forApiAudiences(unionTokenAuthenticator(...opened.values()), apiAudiences);
    anonymous = found.anonymous === undefined ? options.anonymous : policyOf(found.anonymous);
  };

  const takeKeeping = (text: string, isFirst: boolean): Promise<void> =>
    take(text, isFirst).finally(() => metrics?.keepIssuers(urls));
  if (configuration !== undefined) {
    const { signal } = context;
    const option = 'authenticationConfiguration';
    await followConfiguration(configuration, takeKeeping, { clock, log, signal, option, tell: metrics?.configured });
  }
  return {
    tokens: { authenticateToken: (token, audiences) => tokens.authenticateToken(token, audiences) },
    anonymous: () => anonymous,
  };
}

/**
 * Fetches the keys of an issuer.
 *
 * @throws NotYet if they are not available yet
 */
async function untilReached(one: JwtTokens, { clock, signal }: Pick<FollowOptions, 'clock' | 'signal'>): Promise<void> {
  const end = clock.monotonic() + patienceMs;
  while (!(await one.warm())) {
    if (signal.aborted || clock.monotonic() >= end) throw new NotYet('an issuer of JWTs cannot be reached');
    await clock.sleep(tryAgainMs, signal);
  }
}

const policyOf = ({ enabled, conditions = [] }: AnonymousConfiguration): AnonymousPolicy =>
  enabled && conditions.length > 0 ? { paths: conditions.map(({ path }) => path) } : enabled;
