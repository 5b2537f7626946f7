import type { Domains } from '../api/domains.js';
import { serviceAccountUsername } from '../api/user.js';
import { isObject } from './jws.js';

/** What a service account token says, once its signature has been verified. Times are seconds since the epoch. */
export interface TokenClaims {
  readonly issuer: string;
  readonly subject: string;
  readonly audiences: readonly string[];
  readonly id: string;
  readonly expires: number | undefined;
  readonly notBefore: number | undefined;
  readonly issuedAt: number | undefined;
}

/** An object a token names: it must still be the same one when the token is used. */
export interface ClaimedObject {
  readonly name: string;
  readonly uid: string;
}

/** The part of the claims that is Kubernetes' own. */
export interface AccountClaims {
  readonly namespace: string;
  readonly account: ClaimedObject;
  readonly secret?: ClaimedObject | undefined;
  readonly pod?: ClaimedObject | undefined;
  /** The uid is empty where the node did not exist when the token was issued. */
  readonly node?: ClaimedObject | undefined;
  readonly warnAfter?: number | undefined;
}

/** The payload of a token, its members in alphabetical order. */
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

/** Reads the registered claims (RFC 7519). Members of a wrong type count as absent. */
export const readTokenClaims = (claims: Readonly<Record<string, unknown>>): TokenClaims => ({
  issuer: text(claims['iss']),
  subject: text(claims['sub']),
  audiences: texts(claims['aud']),
  id: text(claims['jti']),
  expires: seconds(claims['exp']),
  notBefore: seconds(claims['nbf']),
  issuedAt: seconds(claims['iat']),
});

/** Reads Kubernetes' own claims. Members of a wrong type count as absent. */
export function readAccountClaims(claims: Readonly<Record<string, unknown>>, { signer }: Domains): AccountClaims {
  const own = members(claims[signer]);
  return {
    namespace: text(own['namespace']),
    account: claimedObject(own['serviceaccount']) ?? { name: '', uid: '' },
    secret: claimedObject(own['secret']),
    pod: claimedObject(own['pod']),
    node: claimedObject(own['node']),
    warnAfter: seconds(own['warnafter']) || undefined,
  };
}

/** Claims of a token that lives in a Secret. */
export interface SecretTokenClaims {
  readonly namespace: string;
  readonly secretName: string;
  readonly accountName: string;
  readonly accountUid: string;
}

/** Issuer of tokens that live in Secrets, whatever issuer the server has for others. */
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

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const texts = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
};
const seconds = (value: unknown): number | undefined => (typeof value === 'number' ? Math.trunc(value) : undefined);
const members = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {});
const claimedObject = (value: unknown): ClaimedObject | undefined =>
  isObject(value) ? { name: text(value['name']), uid: text(value['uid']) } : undefined;
