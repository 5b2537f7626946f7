import { quote, quoteList } from '../../api/go-text.js';
import { cannotUnmarshalField } from '../../api/json-exact.js';
import type { Json } from '../../api/object.js';
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

/** The first number of seconds that does not fit in an int64. */
const tooLate = 2 ** 63;

/**
 * Returns the time of a claim in seconds since 1970; undefined for one that does not fit in an int64, which would never
 * come. Some issuers write it as text, which kube-apiserver accepts as well.
 */
function timeOf(claim: unknown): number | undefined {
  const seconds = typeof claim === 'string' && numberText.test(claim) ? Number(claim) : claim;
  return typeof seconds === 'number' && Math.abs(seconds) < tooLate ? seconds : undefined;
}

/**
 * Checks the types of the claims that Kubernetes' OIDC library decodes: a token with others is refused even if nothing uses
 * these claims.
 */
export function checkTypes(claims: Claims): void {
  for (const [name, value] of Object.entries(claims)) {
    const wrong = wrongType(name, value);
    if (wrong !== undefined) throw verificationError(`oidc: failed to unmarshal claims: ${wrong}`);
  }
}

/** Returns Go's error for a claim of a wrong type. */
function wrongType(name: string, value: unknown): string | undefined {
  const mismatch = (claim: unknown, type: string): string =>
    cannotUnmarshalField(claim as Json, `idToken.${name}`, type);
  const isText = (one: unknown): boolean => typeof one === 'string' || one === null;
  switch (name) {
    case 'sub':
    case 'nonce':
    case 'at_hash':
      return isText(value) ? undefined : mismatch(value, 'string');
    case 'aud': {
      if (isText(value)) return undefined;
      if (!Array.isArray(value)) return mismatch(value, '[]string');
      const wrong = value.findIndex((one) => !isText(one));
      return wrong < 0 ? undefined : mismatch(value[wrong], 'string');
    }
    case 'nbf':
    case 'exp':
    case 'iat':
      if (value === null) return name === 'nbf' ? undefined : 'strconv.ParseFloat: parsing "": invalid syntax';
      if (typeof value === 'number') return undefined;
      if (typeof value !== 'string') return mismatch(value, 'json.Number');
      return numberText.test(value)
        ? undefined
        : `json: invalid number literal, trying to unmarshal ${quote(JSON.stringify(value))} into Number`;
    default:
      return undefined;
  }
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
