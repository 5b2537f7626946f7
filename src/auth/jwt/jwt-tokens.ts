import type { Domains } from '../../api/domains.js';
import { quote } from '../../api/go-text.js';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../runtime/logger.js';
import type { IssuerMetrics } from '../authentication-metrics.js';
import { AuthenticationError } from '../authenticator.js';
import type { TokenAuthenticator } from '../bearer-token.js';
import { credentialExtra } from '../credential-extra.js';
import { parseToken, type UnverifiedToken, verificationAlgorithms, verifiesToken } from '../jws.js';
import { checkAudience, checkBeforeSignature, checkTypes, verificationError } from './claims.js';
import type { Expressions } from './expressions.js';
import { type FetchText, fetchText } from './fetch-text.js';
import { IssuerKeys } from './issuer-keys.js';
import type { IssuerKey } from './json-web-key.js';
import type { JwtIssuer } from './jwt-issuer.js';
import { userFrom } from './user-from-claims.js';

export interface JwtTokenOptions {
  /** The compiled expressions, which include those of the issuer. */
  readonly expressions: Expressions;
  readonly domains: Domains;
  readonly clock: Clock;
  readonly log: Logger;
  /** Fetches documents of the issuer; over HTTPS by default. */
  readonly fetch?: FetchText | undefined;
  readonly metrics?: IssuerMetrics | undefined;
}

export interface JwtTokens extends TokenAuthenticator {
  /** Fetches the keys, unless that was tried recently. Resolves with whether there are keys. */
  warm(): Promise<boolean>;
}

/**
 * Authenticates tokens of one issuer other than this server (OpenID Connect ID tokens). Their signature, lifetime and
 * audience are checked, and the mapping of the issuer determines the user. Keys are fetched for the first token, or
 * when `warm` is called.
 */
export function jwtTokens(jwt: JwtIssuer, options: JwtTokenOptions): JwtTokens {
  const { expressions, domains, clock, log, fetch = fetchText, metrics } = options;
  const keys = new IssuerKeys(jwt.issuer, { fetch, clock, log, fetched: metrics?.keysFetched });
  const { credentialId } = credentialExtra(domains);
  return {
    async warm() {
      return (await keys.withId('')) !== undefined;
    },

    async authenticateToken(text) {
      const token = parseToken(text);
      if (token === undefined || !isFrom(token, jwt.issuer.url)) return undefined;
      const start = clock.monotonic();
      let isGood = false;
      try {
        checkTypes(token.claims);
        checkBeforeSignature(token.claims, jwt.issuer, clock.now() / 1_000);
        await checkSignature(token, keys);
        checkAudience(token.claims, jwt.issuer);
        const user = userFrom(token.claims, jwt, { credentialKey: credentialId, expressions });
        isGood = true;
        return { user };
      } finally {
        metrics?.judged(isGood, clock.monotonic() - start);
      }
    },
  };
}

const google = { url: 'https://accounts.google.com', claim: 'accounts.google.com' } as const;

/** Whether a token is from the issuer. Google omits the scheme in some tokens. */
const isFrom = ({ claims: { iss } }: UnverifiedToken, url: string): boolean =>
  iss === url || (url === google.url && iss === google.claim);

async function checkSignature(token: UnverifiedToken, keys: IssuerKeys): Promise<void> {
  const { alg, kid = '' } = token.header;
  const algorithm = verificationAlgorithms.find((known) => known === alg);
  if (algorithm === undefined) {
    const expected = verificationAlgorithms.map(quote).join(' ');
    throw verificationError(
      `oidc: id token signed with unsupported algorithm, expected [${expected}] got ${quote(alg)}`,
    );
  }
  const isSignedByOne = (known: readonly IssuerKey[]): boolean =>
    known
      .filter(({ algorithms }) => algorithms.includes(algorithm))
      .some(({ publicKey }) => verifiesToken(token, { algorithm, publicKey }));
  const known = await keys.withId(kid);
  if (known === undefined) throw new AuthenticationError('oidc: authenticator not initialized');
  if (isSignedByOne(known) || isSignedByOne((await keys.fresh(kid)) ?? [])) return;
  throw verificationError('failed to verify signature: failed to verify id token signature');
}
