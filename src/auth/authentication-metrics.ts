import type { Clock } from '../runtime/clock.js';
import { configurationMetrics, type ReportConfiguration } from '../runtime/configuration-metrics.js';
import { hashOf, LastOutcomes, outcome } from '../runtime/last-outcomes.js';
import type { Metrics } from '../runtime/metrics.js';

/** Metrics of authentication by tokens. */
export interface AuthenticationMetrics {
  /** Counts a verified service account token without an audience. */
  legacyToken(): void;
  /** Counts a use of a token from a Secret. */
  secretToken(use: SecretTokenUse): void;
  /** Counts a use of a token with a claim `warnafter`, before that time or after it (`isStale`). */
  renewedToken(isStale: boolean): void;
  /** Counts a lookup in the token cache. */
  cacheLookup(isKnown: boolean, milliseconds: number): void;
  /** Counts a token that was not cached and has been authenticated, or refused (`isError`). */
  fetched(isError: boolean): void;
  /** Returns the metrics of an issuer of JWTs that is configured from now on. */
  issuer(url: string): IssuerMetrics;
  /** Removes the metrics of all other issuers. */
  keepIssuers(urls: readonly string[]): void;
  /** Reports loads of the AuthenticationConfiguration. */
  readonly configured: ReportConfiguration;
}

/**
 * How the token in a Secret was created. `auto`: the service account refers to the Secret, as accounts once did
 * automatically. `invalid`: the Secret is marked as invalid.
 */
type SecretTokenUse = 'auto' | 'manual' | 'invalid';

export interface IssuerMetrics {
  /** Counts a token of the issuer that was accepted or refused. */
  judged(isGood: boolean, milliseconds: number): void;
  /** Records the key set that was fetched; undefined if that failed. */
  keysFetched(text: string | undefined): void;
}

const jwtSeconds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const cacheSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Returns the metrics of kube-apiserver about tokens. `serverId` distinguishes servers that are scraped together. */
export function authenticationMetrics(metrics: Metrics, clock: Clock, serverId: string): AuthenticationMetrics {
  const accountTokens = (name: string, help: string) =>
    metrics.counter({ name: `serviceaccount_${name}_total`, help }).of({});
  const legacy = accountTokens('legacy_tokens', 'Service account tokens without audiences.');
  const stale = accountTokens('stale_tokens', 'Service account tokens used after they should have been renewed.');
  const valid = accountTokens('valid_tokens', 'Service account tokens used before they need to be renewed.');
  const fromSecrets: Readonly<Record<SecretTokenUse, { add(): void }>> = {
    auto: accountTokens('legacy_auto_token_uses', 'Uses of legacy tokens in Secrets that were created automatically.'),
    manual: accountTokens('legacy_manual_token_uses', 'Uses of legacy tokens in Secrets that were created by users.'),
    invalid: accountTokens(
      'invalid_legacy_auto_token_uses',
      'Uses of legacy tokens in Secrets that are marked as invalid.',
    ),
  };

  const lookups = metrics.counter({
    name: 'authentication_token_cache_request_total',
    help: 'Lookups in the token cache, by hit or miss.',
    labels: ['status'],
  });
  const lookupTime = metrics.histogram({
    name: 'authentication_token_cache_request_duration_seconds',
    help: 'Time taken to authenticate a token in seconds, by hit or miss of the token cache.',
    labels: ['status'],
    buckets: cacheSeconds,
  });
  const fetches = metrics.counter({
    name: 'authentication_token_cache_fetch_total',
    help: 'Tokens authenticated without the cache, by result.',
    labels: ['status'],
  });

  const server = { apiserver_id_hash: hashOf(serverId) };
  const issuers = new Map<string, LastOutcomes>();
  const jwtTime = metrics.histogram({
    name: 'apiserver_authentication_jwt_authenticator_latency_seconds',
    help: 'Time taken to verify a token of an external issuer without the cache in seconds, by issuer.',
    labels: ['jwt_issuer_hash', 'result'],
    buckets: jwtSeconds,
  });
  metrics.measured(
    {
      name: 'apiserver_authentication_jwt_authenticator_jwks_fetch_last_timestamp_seconds',
      help: 'When the keys of an external issuer were last fetched, in seconds since 1970, by result.',
      labels: ['apiserver_id_hash', 'jwt_issuer_hash', 'result'],
    },
    async () =>
      [...issuers].flatMap(([url, { times }]) =>
        times.map(([result, value]) => ({ labels: { ...server, jwt_issuer_hash: hashOf(url), result }, value })),
      ),
  );
  metrics.measured(
    {
      name: 'apiserver_authentication_jwt_authenticator_jwks_fetch_last_key_set_info',
      help: 'Always 1; the label hash identifies the keys fetched last.',
      labels: ['apiserver_id_hash', 'hash', 'jwt_issuer_hash'],
    },
    async () =>
      [...issuers].flatMap(([url, { hash }]) =>
        hash === undefined ? [] : [{ labels: { ...server, hash, jwt_issuer_hash: hashOf(url) }, value: 1 }],
      ),
  );

  const configured = configurationMetrics(metrics, {
    kind: 'AuthenticationConfiguration',
    prefix: 'apiserver_authentication_config_controller',
    clock,
    serverId,
  });
  return {
    legacyToken: () => legacy.add(),
    secretToken: (use) => fromSecrets[use].add(),
    renewedToken: (isStale) => (isStale ? stale : valid).add(),
    cacheLookup(isKnown, milliseconds) {
      const status = isKnown ? 'hit' : 'miss';
      lookups.add({ status });
      lookupTime.observe({ status }, milliseconds / 1_000);
    },
    fetched: (isError) => fetches.add({ status: isError ? 'error' : 'ok' }),
    issuer(url) {
      const outcomes = issuers.get(url) ?? new LastOutcomes(clock);
      issuers.set(url, outcomes);
      const jwt_issuer_hash = hashOf(url);
      return {
        judged: (isGood, milliseconds) =>
          jwtTime.observe({ jwt_issuer_hash, result: outcome(isGood) }, milliseconds / 1_000),
        keysFetched: (text) => outcomes.tell(text),
      };
    },
    keepIssuers(urls) {
      for (const url of issuers.keys()) if (!urls.includes(url)) issuers.delete(url);
    },
    configured,
  };
}
