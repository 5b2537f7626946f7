import type { Domains } from '../api/domains.js';
import { cannotUnmarshal } from '../api/json-exact.js';
import { isObject, type Json } from '../api/object.js';
import { serviceAccountUsername } from '../api/user.js';
import { AuthenticationError } from './authenticator.js';

/** The registered claims of a service account token with a verified signature. Times are seconds since the epoch. */
export interface TokenClaims {
  readonly issuer: string;
  readonly subject: string;
  readonly audiences: readonly string[];
  readonly id: string;
  readonly expires: number | undefined;
  readonly notBefore: number | undefined;
  readonly issuedAt: number | undefined;
}

/** An object that a token is bound to. The same object must still exist when the token is used. */
export interface ClaimedObject {
  readonly name: string;
  readonly uid: string;
}

/** The private claims of Kubernetes. */
export interface AccountClaims {
  readonly namespace: string;
  readonly account: ClaimedObject;
  readonly secret?: ClaimedObject | undefined;
  readonly pod?: ClaimedObject | undefined;
  /** The node of the pod; its uid is empty if the node did not exist when the token was issued. */
  readonly node?: ClaimedObject | undefined;
  readonly warnAfter?: number | undefined;
}

/** Returns the payload of a token, with its members in alphabetical order. */
export function accountPayload(
  { issuer, subject, audiences, id, expires, notBefore, issuedAt }: TokenClaims,
  { namespace, account, secret, pod, node, warnAfter }: AccountClaims,
  { signer }: Domains,
): object {
  const payload: Readonly<Record<string, unknown>> = {
    aud: audiences,
    exp: expires,
    iat: issuedAt,
    iss: issuer,
    jti: id,
    [signer]: { namespace, node: node && claimed(node), pod, secret, serviceaccount: account, warnafter: warnAfter },
    nbf: notBefore,
    sub: subject,
  };
  return Object.fromEntries(Object.entries(payload).sort(([a], [b]) => (a < b ? -1 : 1)));
}
const claimed = ({ name, uid }: ClaimedObject) => (uid === '' ? { name } : { name, uid });

/**
 * Reads the registered claims (RFC 7519). Throws AuthenticationError for a claim of a wrong type: an unreadable claim,
 * such as an expiry in words, must not count as absent. Null counts as absent, except for the audiences.
 */
export const readTokenClaims = (claims: Readonly<Record<string, unknown>>): TokenClaims => ({
  issuer: text(claims['iss']),
  subject: text(claims['sub']),
  audiences: audiences(claims['aud']),
  id: text(claims['jti']),
  expires: seconds(claims['exp']),
  notBefore: seconds(claims['nbf']),
  issuedAt: seconds(claims['iat']),
});

/** Reads the private claims of Kubernetes. Throws AuthenticationError for a claim of a wrong type. */
export function readAccountClaims(claims: Readonly<Record<string, unknown>>, { signer }: Domains): AccountClaims {
  const own = members(claims[signer], 'serviceaccount.kubernetes') ?? {};
  return {
    namespace: text(own['namespace']),
    account: claimedObject(own['serviceaccount']) ?? { name: '', uid: '' },
    secret: claimedObject(own['secret']),
    pod: claimedObject(own['pod']),
    node: claimedObject(own['node']),
    warnAfter: seconds(own['warnafter']) || undefined,
  };
}

/** The claims of a token in a Secret. */
export interface SecretTokenClaims {
  readonly namespace: string;
  readonly secretName: string;
  readonly accountName: string;
  readonly accountUid: string;
}

/** The issuer of tokens in Secrets, whatever issuer the server has for other tokens. */
export const secretTokenIssuer = 'kubernetes/serviceaccount';

const secretClaimNames = ({ signer }: Domains) => ({
  namespace: `${signer}/serviceaccount/namespace`,
  secretName: `${signer}/serviceaccount/secret.name`,
  accountName: `${signer}/serviceaccount/service-account.name`,
  accountUid: `${signer}/serviceaccount/service-account.uid`,
});

export function secretTokenPayload(claims: SecretTokenClaims, domains: Domains): object {
  const names = secretClaimNames(domains);
  return {
    iss: secretTokenIssuer,
    [names.namespace]: claims.namespace,
    [names.secretName]: claims.secretName,
    [names.accountName]: claims.accountName,
    [names.accountUid]: claims.accountUid,
    sub: serviceAccountUsername(claims.namespace, claims.accountName),
  };
}

export function readSecretTokenClaims(claims: Readonly<Record<string, unknown>>, domains: Domains): SecretTokenClaims {
  const names = secretClaimNames(domains);
  return {
    namespace: text(claims[names.namespace]),
    secretName: text(claims[names.secretName]),
    accountName: text(claims[names.accountName]),
    accountUid: text(claims[names.accountUid]),
  };
}

const isAbsent = (value: unknown): value is undefined | null => value === undefined || value === null;

const mismatch = (value: unknown, type: string): AuthenticationError =>
  new AuthenticationError(cannotUnmarshal(value as Json, type));

function text(value: unknown): string {
  if (isAbsent(value)) return '';
  if (typeof value === 'string') return value;
  throw mismatch(value, 'string');
}

function audiences(value: unknown): readonly string[] {
  if (value === undefined) return [];
  if (typeof value === 'string') return [value];
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
  throw new AuthenticationError('go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience');
}

/** The result of Go for a time beyond its integers, which wraps around into the distant past. */
const longPast = -(2 ** 63);

function seconds(value: unknown): number | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw new AuthenticationError('go-jose/go-jose/jwt: expected number value to unmarshal NumericDate');
  return Math.abs(value) < 2 ** 63 ? Math.trunc(value) : longPast;
}

function members(value: unknown, type: string): Readonly<Record<string, unknown>> | undefined {
  if (isAbsent(value)) return undefined;
  if (isObject(value)) return value;
  throw mismatch(value, type);
}

function claimedObject(value: unknown): ClaimedObject | undefined {
  const found = members(value, 'serviceaccount.ref');
  return found && { name: text(found['name']), uid: text(found['uid']) };
}
