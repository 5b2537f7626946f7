import { quote } from '../../api/go-text.js';
import {
  child,
  duplicate,
  forbiddenField,
  index,
  invalid,
  required,
  tooMany,
  type Violation,
} from '../../api/violations.js';
import { readPemCertificates } from '../../pki/certificate.js';
import { PkiError } from '../../pki/pki-error.js';
import type { AuthenticationConfiguration, JwtIssuer, PrefixedClaim } from './jwt-issuer.js';

const maxIssuers = 64;
const noExpressions = 'expressions are not supported; use claim';

/**
 * What is wrong with a configuration, in Kubernetes' words. `ownIssuers` are those of this server's own tokens: nobody
 * else may speak for them.
 */
export function checkAuthenticationConfiguration(
  { jwt = [], anonymous }: AuthenticationConfiguration,
  ownIssuers: readonly string[],
): readonly Violation[] {
  if (jwt.length > maxIssuers) return [tooMany('jwt', jwt.length, maxIssuers)];
  const repeated = (values: readonly (string | undefined)[], member: string): readonly Violation[] =>
    values.flatMap((value, at) =>
      value && values.indexOf(value) < at ? [duplicate(`${index('jwt', at)}.issuer.${member}`, value)] : [],
    );
  return [
    ...jwt.flatMap((one, at) => checkIssuer(one, index('jwt', at), ownIssuers)),
    ...repeated(
      jwt.map(({ issuer }) => issuer.url),
      'url',
    ),
    ...repeated(
      jwt.map(({ issuer }) => issuer.discoveryURL),
      'discoveryURL',
    ),
    ...(anonymous !== undefined && !anonymous.enabled && anonymous.conditions?.length
      ? [
          invalid(
            'anonymous.conditions',
            anonymous.conditions,
            'enabled should be set to true when conditions are defined',
          ),
        ]
      : []),
  ];
}

function checkIssuer(jwt: JwtIssuer, path: string, ownIssuers: readonly string[]): readonly Violation[] {
  const { url, discoveryURL = '', certificateAuthority = '' } = jwt.issuer;
  const at = child(path, 'issuer');
  const withoutSlashes = (text: string): string => text.replace(/\/+$/, '');
  return [
    ...(url ? checkUrl(url, child(at, 'url'), ownIssuers) : [required(child(at, 'url'))]),
    ...(discoveryURL === ''
      ? []
      : [
          ...(url && withoutSlashes(url) === withoutSlashes(discoveryURL)
            ? [invalid(child(at, 'discoveryURL'), discoveryURL, 'discoveryURL must be different from URL')]
            : []),
          ...checkUrl(discoveryURL, child(at, 'discoveryURL'), []),
        ]),
    ...checkAudiences(jwt.issuer, at),
    ...checkAuthority(certificateAuthority, child(at, 'certificateAuthority')),
    ...checkRules(jwt.claimValidationRules ?? [], child(path, 'claimValidationRules')),
    ...checkMappings(jwt.claimMappings, child(path, 'claimMappings')),
    ...(jwt.userValidationRules ?? []).map((_rule, i) =>
      forbiddenField(
        child(index(child(path, 'userValidationRules'), i), 'expression'),
        'expressions are not supported',
      ),
    ),
  ];
}

function checkUrl(text: string, path: string, disallowed: readonly string[]): readonly Violation[] {
  const overlap = disallowed.includes(text)
    ? [invalid(path, text, `URL must not overlap with disallowed issuers: [${[...disallowed].sort().join(' ')}]`)]
    : [];
  if (!URL.canParse(text)) return [...overlap, invalid(path, text, `parse ${quote(text)}: invalid URL`)];
  const url = new URL(text);
  const wrong: readonly (readonly [boolean, string])[] = [
    [url.protocol !== 'https:', 'URL scheme must be https'],
    [url.username !== '' || url.password !== '', 'URL must not contain a username or password'],
    [url.search !== '', 'URL must not contain a query'],
    [url.hash !== '', 'URL must not contain a fragment'],
  ];
  return [...overlap, ...wrong.flatMap(([is, why]) => (is ? [invalid(path, text, why)] : []))];
}

function checkAudiences(
  { audiences, audienceMatchPolicy: policy = '' }: JwtIssuer['issuer'],
  path: string,
): readonly Violation[] {
  const field = child(path, 'audiences');
  if (!audiences?.length) return [required(field, `at least one ${field} is required`)];
  const policyField = child(path, 'audienceMatchPolicy');
  return [
    ...audiences.flatMap((audience, at) => [
      ...(audience === '' ? [required(index(field, at))] : []),
      ...(audiences.indexOf(audience) < at ? [duplicate(index(field, at), audience)] : []),
    ]),
    ...(audiences.length > 1 && policy !== 'MatchAny'
      ? [invalid(policyField, policy, 'audienceMatchPolicy must be MatchAny for multiple audiences')]
      : []),
    ...(audiences.length === 1 && policy !== '' && policy !== 'MatchAny'
      ? [invalid(policyField, policy, 'audienceMatchPolicy must be empty or MatchAny for single audience')]
      : []),
  ];
}

function checkAuthority(pem: string, path: string): readonly Violation[] {
  if (pem === '') return [];
  try {
    if (readPemCertificates(pem).length > 0) return [];
  } catch (error) {
    if (!(error instanceof PkiError)) throw error;
    return [invalid(path, '<omitted>', error.message)];
  }
  return [invalid(path, '<omitted>', 'data does not contain any valid RSA or ECDSA certificates')];
}

function checkRules(rules: NonNullable<JwtIssuer['claimValidationRules']>, path: string): readonly Violation[] {
  const claims = rules.map(({ claim }) => claim);
  return rules.flatMap(({ claim = '', expression = '', message = '' }, at) => {
    const field = index(path, at);
    if (expression !== '') return [forbiddenField(child(field, 'expression'), noExpressions)];
    if (claim === '') return [required(field, 'claim or expression is required')];
    return [
      ...(message === '' ? [] : [invalid(child(field, 'message'), message, 'may not be specified when claim is set')]),
      ...(claims.indexOf(claim) < at ? [duplicate(child(field, 'claim'), claim)] : []),
    ];
  });
}

const checkMappings = (
  { username, groups, uid, extra = [] }: JwtIssuer['claimMappings'],
  path: string,
): readonly Violation[] => [
  ...checkPrefixed(username ?? {}, child(path, 'username'), true),
  ...checkPrefixed(groups ?? {}, child(path, 'groups'), false),
  ...(uid?.expression ? [forbiddenField(child(path, 'uid', 'expression'), noExpressions)] : []),
  ...extra.map((_mapping, at) =>
    forbiddenField(child(index(child(path, 'extra'), at), 'valueExpression'), 'expressions are not supported'),
  ),
];

function checkPrefixed(
  { claim = '', prefix, expression = '' }: PrefixedClaim,
  path: string,
  isRequired: boolean,
): readonly Violation[] {
  if (expression !== '') return [forbiddenField(child(path, 'expression'), noExpressions)];
  if (claim === '') return isRequired ? [required(path, 'claim or expression is required')] : [];
  if (prefix !== undefined) return [];
  return [
    required(
      child(path, 'prefix'),
      'prefix is required when claim is set. It can be set to an empty string to disable prefixing',
    ),
  ];
}
