import { randomUUID } from 'node:crypto';
import type { Domains } from '../api/domains.js';
import { serviceAccountUsername } from '../api/user.js';
import type { Clock } from '../runtime/clock.js';
import { signToken } from './jws.js';
import {
  type AccountClaims,
  accountPayload,
  type SecretTokenClaims,
  secretTokenPayload,
} from './service-account-claims.js';
import type { TokenSigningKey } from './service-account-keys.js';

/** Issues tokens for service accounts. Callers decide which tokens may be issued. */
export interface TokenIssuer {
  issue(request: IssueRequest): IssuedToken;
  /** Returns a token for a Secret, which never expires. */
  issueForSecret(claims: SecretTokenClaims): string;
}

export interface IssueRequest extends Omit<AccountClaims, 'warnAfter'> {
  readonly audiences: readonly string[];
  readonly seconds: number;
  /** Seconds after which the use of the token causes a warning to renew it. */
  readonly warnAfterSeconds?: number | undefined;
}

interface IssuedToken {
  readonly token: string;
  /** The claim `jti`. */
  readonly id: string;
  /** Seconds since the epoch. */
  readonly issuedAt: number;
}

export const tokenIssuer = (options: {
  /** The name of the issuer in tokens. */
  readonly issuer: string;
  readonly key: () => TokenSigningKey;
  readonly domains: Domains;
  readonly clock: Clock;
  readonly newId?: () => string;
}): TokenIssuer => ({
  issue({ audiences, seconds, warnAfterSeconds, ...account }) {
    const issuedAt = Math.floor(options.clock.now() / 1_000);
    const id = (options.newId ?? randomUUID)();
    const claims = {
      issuer: options.issuer,
      subject: serviceAccountUsername(account.namespace, account.account.name),
      audiences,
      id,
      issuedAt,
      notBefore: issuedAt,
      expires: issuedAt + seconds,
    };
    const warnAfter = warnAfterSeconds === undefined ? undefined : issuedAt + warnAfterSeconds;
    const payload = accountPayload(claims, { ...account, warnAfter }, options.domains);
    return { token: signToken(payload, options.key()), id, issuedAt };
  },

  issueForSecret: (claims) => signToken(secretTokenPayload(claims, options.domains), options.key()),
});
