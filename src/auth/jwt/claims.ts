import { quote, quoteList } from '../../api/go-text.js';
import { jsonKind } from '../../api/json-exact.js';
import type { Json } from '../../api/object.js';
import type { UserInfo } from '../../api/user.js';
import { AuthenticationError } from '../authenticator.js';
import type { JwtIssuer } from './jwt-issuer.js';

/** What the claims of a token say, by the rules of its issuer. Texts are those of kube-apiserver. */

export type Claims = Readonly<Record<string, unknown>>;

const refuse = (text: string): AuthenticationError => new AuthenticationError(`oidc: ${text}`);
/** A refusal by the library that Kubernetes verifies with. */
export const unverified = (text: string): AuthenticationError => refuse(`verify token: ${text}`);

/** Clocks may differ by so many seconds where a token is not valid yet. None is given to one that has expired. */
const notBeforeLeeway = 60;

const numberText = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** Seconds since 1970; some issuers write them as a text, which kube-apiserver reads too. */
function timeOf(claim: unknown): number | undefined {
  const seconds = typeof claim === 'string' && numberText.test(claim) ? Number(claim) : claim;
  return typeof seconds === 'number' && Number.isFinite(seconds) ? seconds : undefined;
}

/** Checks what does not need the signature: that way strangers cause no look at the issuer's keys. `now` in seconds. */
export function checkBeforeSignature(claims: Claims, { audiences }: JwtIssuer['issuer'], now: number): void {
  const [only = ''] = audiences;
  if (audiences.length === 1 && !audiencesOf(claims).includes(only)) {
    throw unverified(`oidc: expected audience ${quote(only)} got ${quoteList(audiencesOf(claims))}`);
  }
  const expiry = timeOf(claims['exp']);
  if (expiry === undefined || !(expiry >= now)) {
    throw unverified(`oidc: token is expired (Token Expiry: ${expiry === undefined ? goZeroTime : goTime(expiry)})`);
  }
  const begin = claims['nbf'];
  if (begin === undefined || begin === null) return;
  const notBefore = timeOf(begin);
  if (notBefore === undefined || !(now + notBeforeLeeway >= notBefore)) {
    const when = notBefore === undefined ? goZeroTime : goTime(notBefore);
    throw unverified(`oidc: current time ${goTime(now)} before the nbf (not before) time: ${when}`);
  }
}

/** With several audiences Kubernetes looks at them last. */
export function checkAudience(claims: Claims, { audiences }: JwtIssuer['issuer']): void {
  if (audiencesOf(claims).some((audience) => audiences.includes(audience))) return;
  throw unverified(
    `oidc: expected audience in ${quoteList([...audiences].sort())} got ${quoteList(audiencesOf(claims))}`,
  );
}

const audiencesOf = ({ aud }: Claims): readonly string[] =>
  typeof aud === 'string' ? [aud] : Array.isArray(aud) ? aud.filter((one) => typeof one === 'string') : [];

const goZeroTime = '0001-01-01 00:00:00 +0000 UTC';
function goTime(seconds: number): string {
  const date = new Date(Math.trunc(seconds) * 1_000);
  if (Number.isNaN(date.getTime())) return goZeroTime;
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} +0000 UTC`;
}

/** The user whom verified claims name. Throws AuthenticationError where they do not, or break a rule. */
export function userFrom(
  claims: Claims,
  { claimMappings, claimValidationRules = [] }: JwtIssuer,
  credentialKey: string,
): UserInfo {
  const user = {
    username: usernameIn(claims, claimMappings.username),
    groups: groupsIn(claims, claimMappings.groups ?? {}),
    ...uidIn(claims, claimMappings.uid?.claim ?? ''),
    ...extraIn(claims, credentialKey),
  };
  for (const { claim = '', requiredValue = '' } of claimValidationRules) {
    if (!Object.hasOwn(claims, claim)) throw refuse(`required claim ${claim} not present in ID token`);
    const value = textOf(claims, claim, `parse claim ${claim}`);
    if (value !== requiredValue) {
      throw refuse(`required claim ${claim} value does not match. Got = ${value}, want = ${requiredValue}`);
    }
  }
  return user;
}

function usernameIn(claims: Claims, { claim = '', prefix = '' }: JwtIssuer['claimMappings']['username']): string {
  const username = textOf(claims, claim, `parse username claims ${quote(claim)}`);
  if (username === '') throw refuse(`parse username claims ${quote(claim)}: claim is empty`);
  if (claim === 'email' && Object.hasOwn(claims, 'email_verified')) {
    const verified = claims['email_verified'];
    if (typeof verified !== 'boolean' && verified !== null) {
      throw refuse(`parse 'email_verified' claim: ${mismatch(verified, 'bool')}`);
    }
    if (verified !== true) throw refuse('email not verified');
  }
  return `${prefix}${username}`;
}

/** One group may stand there as a text. */
function groupsIn(
  claims: Claims,
  { claim = '', prefix = '' }: JwtIssuer['claimMappings']['username'],
): readonly string[] {
  if (claim === '' || !Object.hasOwn(claims, claim)) return [];
  const value = claims[claim];
  if (value === null) return [];
  if (typeof value === 'string') return [`${prefix}${value}`];
  if (Array.isArray(value) && value.every((group) => typeof group === 'string')) {
    return value.map((group) => `${prefix}${group}`);
  }
  throw refuse(`parse groups claim ${quote(claim)}: ${mismatch(value, 'string')}`);
}

const uidIn = (claims: Claims, claim: string): { readonly uid?: string } => {
  const uid = claim === '' ? '' : textOf(claims, claim, `parse uid claim ${quote(claim)}`);
  return uid === '' ? {} : { uid };
};

const extraIn = ({ jti }: Claims, key: string): Pick<UserInfo, 'extra'> =>
  typeof jti === 'string' && jti !== '' ? { extra: { [key]: [`JTI=${jti}`] } } : {};

function textOf(claims: Claims, claim: string, doing: string): string {
  if (!Object.hasOwn(claims, claim)) throw refuse(`${doing}: claim not present`);
  const value = claims[claim];
  if (value === null) return '';
  if (typeof value !== 'string') throw refuse(`${doing}: ${mismatch(value, 'string')}`);
  return value;
}

const mismatch = (value: unknown, type: string): string =>
  `json: cannot unmarshal ${jsonKind(value as Json)} into Go value of type ${type}`;
