import { quote } from '../../api/go-text.js';
import { cannotUnmarshal } from '../../api/json-exact.js';
import type { Json, JsonObject } from '../../api/object.js';
import type { UserInfo } from '../../api/user.js';
import { Failure, isList, type ListValue, type Value } from '../../cel/values.js';
import { AuthenticationError } from '../authenticator.js';
import { type Claims, oidcError } from './claims.js';
import type { Evaluate, Expressions } from './expressions.js';
import type { JwtIssuer, PrefixedClaim } from './jwt-issuer.js';

/** Maps the claims of a token to a user, as configured for its issuer. Error texts are those of kube-apiserver. */

/** Returns the user that verified claims name. Throws AuthenticationError if they name none, or violate a rule. */
export function userFrom(
  claims: Claims,
  { claimMappings, claimValidationRules = [], userValidationRules = [] }: JwtIssuer,
  { credentialKey, expressions }: { readonly credentialKey: string; readonly expressions: Expressions },
): UserInfo {
  const evaluate = expressions.onClaims(claims as JsonObject);
  const { username, groups = {}, uid = {}, extra = [] } = claimMappings;
  const user = {
    username: username.expression ? evaluatedName(evaluate, username.expression) : usernameIn(claims, username),
    groups: groups.expression ? evaluatedGroups(evaluate, groups.expression) : groupsIn(claims, groups),
    ...withUid(uid.expression ? evaluatedText(evaluate, uid.expression, 'uid') : uidIn(claims, uid.claim)),
    ...withExtra([...credentialIn(claims, credentialKey), ...extra.map((one) => evaluatedExtra(evaluate, one))]),
  };
  checkRequired(claims, claimValidationRules);
  checkRules('claim validation expression', claimValidationRules, (text) => evaluate('claim rule', text));
  const onUser = expressions.onUser(user);
  checkRules('user info validation rule', userValidationRules, (text) => onUser('user rule', text));
  return user;
}

function usernameIn(claims: Claims, { claim = '', prefix = '' }: PrefixedClaim): string {
  const username = textOf(claims, claim, `parse username claims ${quote(claim)}`);
  if (username === '') throw oidcError(`parse username claims ${quote(claim)}: claim is empty`);
  if (claim === 'email' && Object.hasOwn(claims, 'email_verified')) {
    const verified = claims['email_verified'];
    if (typeof verified !== 'boolean' && verified !== null) {
      throw oidcError(`parse 'email_verified' claim: ${cannotUnmarshal(verified as Json, 'bool')}`);
    }
    if (verified !== true) throw oidcError('email not verified');
  }
  return `${prefix}${username}`;
}

/** Returns the groups in the claims. A single group may be a string. */
function groupsIn(claims: Claims, { claim = '', prefix = '' }: PrefixedClaim): readonly string[] {
  if (claim === '' || !Object.hasOwn(claims, claim)) return [];
  const value = claims[claim];
  if (value === null) return [];
  if (typeof value === 'string') return [`${prefix}${value}`];
  if (Array.isArray(value) && value.every((group) => typeof group === 'string')) {
    return value.map((group) => `${prefix}${group}`);
  }
  throw oidcError(`parse groups claim ${quote(claim)}: ${cannotUnmarshal(value as Json, 'string')}`);
}

const uidIn = (claims: Claims, claim = ''): string =>
  claim === '' ? '' : textOf(claims, claim, `parse uid claim ${quote(claim)}`);

type Extra = readonly [key: string, values: readonly string[]];

const credentialIn = ({ jti }: Claims, key: string): readonly Extra[] =>
  typeof jti === 'string' && jti !== '' ? [[key, [`JTI=${jti}`]]] : [];

const withUid = (uid: string): Pick<UserInfo, 'uid'> => (uid === '' ? {} : { uid });

function withExtra(extra: readonly Extra[]): Pick<UserInfo, 'extra'> {
  const present = extra.filter(([, values]) => values.length > 0);
  return present.length === 0 ? {} : { extra: Object.fromEntries(present) };
}

function checkRequired(claims: Claims, rules: NonNullable<JwtIssuer['claimValidationRules']>): void {
  for (const { claim = '', requiredValue = '' } of rules) {
    if (claim === '') continue;
    if (!Object.hasOwn(claims, claim)) throw oidcError(`required claim ${claim} not present in ID token`);
    const value = textOf(claims, claim, `parse claim ${claim}`);
    if (value !== requiredValue) {
      throw oidcError(`required claim ${claim} value does not match. Got = ${value}, want = ${requiredValue}`);
    }
  }
}

/** Checks the rules. All of them are evaluated before any result is considered, as in Kubernetes. */
function checkRules(
  label: string,
  rules: readonly { readonly expression?: string; readonly message?: string }[],
  evaluate: (text: string) => Value,
): void {
  const prefix = `error evaluating ${label}: `;
  const evaluated = rules.flatMap(({ expression: text, message = '' }) =>
    text ? [{ text, message, holds: succeeded(evaluate(text), text, `oidc: ${prefix}`) === true }] : [],
  );
  const broken = evaluated.find(({ holds }) => !holds);
  if (broken !== undefined) {
    throw oidcError(`${prefix}validation expression '${broken.text}' failed: ${broken.message}`);
  }
}

function evaluatedText(evaluate: Evaluate, text: string, claim: 'username' | 'uid'): string {
  const prefix = `error evaluating ${claim} claim expression: `;
  const value = succeeded(evaluate('mapping', text), text, `oidc: ${prefix}`);
  if (typeof value !== 'string') throw oidcError(`${prefix}${claim} claim expression must return a string`);
  return value;
}

function evaluatedName(evaluate: Evaluate, text: string): string {
  const username = evaluatedText(evaluate, text, 'username');
  if (username === '') throw oidcError('empty username via CEL expression is not allowed');
  return username;
}

function evaluatedGroups(evaluate: Evaluate, text: string): readonly string[] {
  const prefix = 'error evaluating group claim expression: ';
  return textsOf(succeeded(evaluate('mapping', text), text, `oidc: ${prefix}`), prefix);
}

function evaluatedExtra(
  evaluate: Evaluate,
  { key = '', valueExpression: text = '' }: { readonly key?: string; readonly valueExpression?: string },
): Extra {
  const value = succeeded(evaluate('mapping', text), text, '');
  return [key, textsOf(value, `error evaluating extra claim expression: ${text}: `)];
}

/** Returns a text, or a list of texts, as a list without empty texts. */
function textsOf(value: Value, prefix: string): readonly string[] {
  const found = value === null ? [] : isList(value) ? itemsOf(value) : [value];
  if (!found.every((one) => typeof one === 'string')) {
    throw oidcError(`${prefix}expression must return a string or a list of strings`);
  }
  return found.filter((one) => one !== '');
}

const itemsOf = (list: ListValue): readonly Value[] => Array.from({ length: list.size }, (_, at) => list.at(at));

function succeeded(value: Value, text: string, prefix: string): Value {
  if (!(value instanceof Failure)) return value;
  throw new AuthenticationError(`${prefix}expression '${text}' resulted in error: ${value.message}`);
}

function textOf(claims: Claims, claim: string, prefix: string): string {
  if (!Object.hasOwn(claims, claim)) throw oidcError(`${prefix}: claim not present`);
  const value = claims[claim];
  if (value === null) return '';
  if (typeof value !== 'string') throw oidcError(`${prefix}: ${cannotUnmarshal(value as Json, 'string')}`);
  return value;
}
