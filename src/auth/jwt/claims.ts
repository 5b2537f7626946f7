import { quote, quoteList } from '../../api/go-text.js';
import { goTimeText } from '../../api/time.js';
import { AuthenticationError } from '../authenticator.js';
import type { JwtIssuer } from './jwt-issuer.js';

/** Validates the claims of a token. Error texts are those of kube-apiserver. */

export type Claims = Readonly<Record<string, unknown>>;

export const oidcError = (text: string): AuthenticationError => new AuthenticationError(`oidc: ${text}`);
/** Returns an error as the OIDC library of Kubernetes reports it. */
export const verificationError = (text: string): AuthenticationError => oidcError(`verify token: ${text}`);

/** Allowed clock skew in seconds for `nbf`. There is none for `exp`. */
const notBeforeLeeway = 60;

const numberText = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/**
 * Returns the time of a claim in seconds since 1970. Some issuers write it as text, which kube-apiserver accepts as
 * well.
 */
function timeOf(claim: unknown): number | undefined {
  const seconds = typeof claim === 'string' && numberText.test(claim) ? Number(claim) : claim;
  return typeof seconds === 'number' && Number.isFinite(seconds) ? seconds : undefined;
}

/**
 * Checks the claims that can be checked without the signature, so that forged tokens do not cause requests for the keys
 * of the issuer. `now` is in seconds.
 */
export function checkBeforeSignature(claims: Claims, { audiences }: JwtIssuer['issuer'], now: number): void {
  const [only = ''] = audiences;
  if (audiences.length === 1 && !audiencesOf(claims).includes(only)) {
    throw verificationError(`oidc: expected audience ${quote(only)} got ${quoteList(audiencesOf(claims))}`);
  }
  const expiry = timeOf(claims['exp']);
  if (expiry === undefined || !(expiry >= now)) {
    throw verificationError(`oidc: token is expired (Token Expiry: ${textOf(expiry)})`);
  }
  const begin = claims['nbf'];
  if (begin === undefined || begin === null) return;
  const notBefore = timeOf(begin);
  if (notBefore === undefined || !(now + notBeforeLeeway >= notBefore)) {
    throw verificationError(`oidc: current time ${textOf(now)} before the nbf (not before) time: ${textOf(notBefore)}`);
  }
}

/** Checks the audience. If several audiences are configured, Kubernetes checks them last. */
export function checkAudience(claims: Claims, { audiences }: JwtIssuer['issuer']): void {
  if (audiencesOf(claims).some((audience) => audiences.includes(audience))) return;
  throw verificationError(
    `oidc: expected audience in ${quoteList([...audiences].sort())} got ${quoteList(audiencesOf(claims))}`,
  );
}

const audiencesOf = ({ aud }: Claims): readonly string[] =>
  typeof aud === 'string' ? [aud] : Array.isArray(aud) ? aud.filter((one) => typeof one === 'string') : [];

const textOf = (seconds: number | undefined): string =>
  goTimeText(seconds === undefined ? undefined : Math.trunc(seconds) * 1_000);
