import { type Domains, isWithinDomain } from '../../api/domains.js';
import { parseGoUrl } from '../../api/go-url.js';
import {
  child,
  duplicate,
  index,
  invalid,
  invalidExpression,
  required,
  tooMany,
  type Violation,
} from '../../api/violations.js';
import { asksForClaim } from '../../cel/environments/authentication.js';
import { readPemCertificates } from '../../pki/certificate.js';
import { PkiError } from '../../pki/pki-error.js';
import { checkExtraKey } from '../extra-key.js';
import type { Expressions, ExpressionUse } from './expressions.js';
import type { AuthenticationConfiguration, JwtIssuer, PrefixedClaim } from './jwt-issuer.js';

const maxIssuers = 64;

interface CheckContext {
  /** The issuers of this server's own tokens, which the configuration must not contain. */
  readonly ownIssuers: readonly string[];
  readonly domains: Domains;
  /** The compiled expressions of the configuration. */
  readonly expressions: Expressions;
}

/** Returns Kubernetes' errors for a configuration. */
export function checkAuthenticationConfiguration(
  { jwt = [], anonymous }: AuthenticationConfiguration,
  context: CheckContext,
): readonly Violation[] {
  if (jwt.length > maxIssuers) return [tooMany('jwt', jwt.length, maxIssuers)];
  const repeated = (values: readonly (string | undefined)[], member: string): readonly Violation[] =>
    values.flatMap((value, at) =>
      value && values.indexOf(value) < at ? [duplicate(`${index('jwt', at)}.issuer.${member}`, value)] : [],
    );
  return [
    ...jwt.flatMap((one, at) => checkIssuer(one, index('jwt', at), context)),
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
            // Printed as Go prints the struct.
            anonymous.conditions.map(({ path }) => ({ Path: path })),
            'enabled should be set to true when conditions are defined',
          ),
        ]
      : []),
  ];
}

function checkIssuer(jwt: JwtIssuer, path: string, context: CheckContext): readonly Violation[] {
  const { url, discoveryURL = '', certificateAuthority = '' } = jwt.issuer;
  const at = child(path, 'issuer');
  const withoutSlashes = (text: string): string => text.replace(/\/+$/, '');
  return [
    ...(url ? checkUrl(url, child(at, 'url'), context.ownIssuers) : [required(child(at, 'url'))]),
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
    ...checkClaimRules(jwt.claimValidationRules ?? [], child(path, 'claimValidationRules'), context),
    ...checkMappings(jwt, child(path, 'claimMappings'), context),
    ...checkUserRules(jwt.userValidationRules ?? [], child(path, 'userValidationRules'), context),
  ];
}

function checkUrl(text: string, path: string, disallowed: readonly string[]): readonly Violation[] {
  const overlap = disallowed.includes(text)
    ? [invalid(path, text, `URL must not overlap with disallowed issuers: [${[...disallowed].sort().join(' ')}]`)]
    : [];
  const url = parseGoUrl(text);
  if ('wrong' in url) return [...overlap, invalid(path, text, url.wrong)];
  const wrong: readonly (readonly [boolean, string])[] = [
    [url.scheme !== 'https', 'URL scheme must be https'],
    [url.user !== undefined, 'URL must not contain a username or password'],
    [url.rawQuery !== '', 'URL must not contain a query'],
    [url.fragment !== '', 'URL must not contain a fragment'],
  ];
  return [...overlap, ...wrong.flatMap(([is, message]) => (is ? [invalid(path, text, message)] : []))];
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

const claimAndExpression = "claim and expression can't both be set";
const noClaimOrExpression = 'claim or expression is required';

function checkExpression(
  { use, text, path }: { readonly use: ExpressionUse; readonly text: string; readonly path: string },
  { expressions }: CheckContext,
): readonly Violation[] {
  const prepared = expressions.get(use, text);
  return prepared.wrong === undefined ? [] : [invalidExpression(path, text, prepared)];
}

function checkClaimRules(
  rules: NonNullable<JwtIssuer['claimValidationRules']>,
  path: string,
  context: CheckContext,
): readonly Violation[] {
  const claims = rules.map(({ claim, expression }) => (expression ? '' : claim));
  const expressions = rules.map(({ claim, expression }) => (claim ? '' : expression));
  return rules.flatMap(({ claim = '', expression = '', message = '', requiredValue = '' }, at) => {
    const field = index(path, at);
    if (claim !== '' && expression !== '') return [invalid(field, claim, claimAndExpression)];
    if (claim === '' && expression === '') return [required(field, noClaimOrExpression)];
    if (claim !== '') {
      return [
        ...(message === ''
          ? []
          : [invalid(child(field, 'message'), message, 'may not be specified when claim is set')]),
        ...(claims.indexOf(claim) < at ? [duplicate(child(field, 'claim'), claim)] : []),
      ];
    }
    const place = child(field, 'expression');
    return [
      ...(requiredValue === ''
        ? []
        : [invalid(child(field, 'requiredValue'), requiredValue, 'may not be specified when expression is set')]),
      ...(expressions.indexOf(expression) < at
        ? [duplicate(place, expression)]
        : checkExpression({ use: 'claim rule', text: expression, path: place }, context)),
    ];
  });
}

function checkUserRules(
  rules: NonNullable<JwtIssuer['userValidationRules']>,
  path: string,
  context: CheckContext,
): readonly Violation[] {
  const texts = rules.map(({ expression = '' }) => expression);
  return texts.flatMap((text, at) => {
    const place = child(index(path, at), 'expression');
    if (text === '') return [required(place)];
    if (texts.indexOf(text) < at) return [duplicate(place, text)];
    return checkExpression({ use: 'user rule', text, path: place }, context);
  });
}

function checkMappings(jwt: JwtIssuer, path: string, context: CheckContext): readonly Violation[] {
  const { username, groups, uid = {}, extra = [] } = jwt.claimMappings;
  const ofUid = child(path, 'uid');
  return [
    ...checkPrefixed(username ?? {}, { path: child(path, 'username'), isRequired: true }, context),
    ...checkPrefixed(groups ?? {}, { path: child(path, 'groups'), isRequired: false }, context),
    ...(uid.claim && uid.expression
      ? [invalid(ofUid, '', claimAndExpression)]
      : uid.expression
        ? checkExpression({ use: 'mapping', text: uid.expression, path: child(ofUid, 'expression') }, context)
        : []),
    ...checkExtra(extra, child(path, 'extra'), context),
    ...checkEmail(jwt, child(path, 'username', 'expression'), context),
  ];
}

function checkPrefixed(
  { claim = '', prefix, expression = '' }: PrefixedClaim,
  { path, isRequired }: { readonly path: string; readonly isRequired: boolean },
  context: CheckContext,
): readonly Violation[] {
  if (claim !== '' && expression !== '') return [invalid(path, '', claimAndExpression)];
  if (claim === '' && expression === '') return isRequired ? [required(path, noClaimOrExpression)] : [];
  const ofPrefix = child(path, 'prefix');
  if (expression !== '') {
    return [
      ...(prefix === undefined ? [] : [invalid(ofPrefix, prefix, 'may not be specified when expression is set')]),
      ...checkExpression({ use: 'mapping', text: expression, path: child(path, 'expression') }, context),
    ];
  }
  if (prefix !== undefined) return [];
  return [
    required(ofPrefix, 'prefix is required when claim is set. It can be set to an empty string to disable prefixing'),
  ];
}

function checkExtra(
  extra: NonNullable<JwtIssuer['claimMappings']['extra']>,
  path: string,
  context: CheckContext,
): readonly Violation[] {
  const { api, signer } = context.domains;
  const isReserved = (key: string): boolean => {
    const domain = key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
    return [api, signer].some((reserved) => isWithinDomain(domain, reserved));
  };
  const keys = extra.map(({ key = '' }) => key);
  return extra.flatMap(({ key = '', valueExpression: text = '' }, at) => {
    const ofKey = child(index(path, at), 'key');
    const place = child(index(path, at), 'valueExpression');
    return [
      ...checkExtraKey(ofKey, key),
      ...(key === key.toLowerCase() ? [] : [invalid(ofKey, key, 'must be lowercase')]),
      ...(isReserved(key)
        ? [invalid(ofKey, key, 'k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use')]
        : []),
      ...(keys.indexOf(key) < at
        ? [duplicate(ofKey, key)]
        : text === ''
          ? [required(place)]
          : checkExpression({ use: 'mapping', text, path: place }, context)),
    ];
  });
}

/** Checks that a mapping of the username from `email` also requires that the address is verified. */
function checkEmail(
  { claimMappings: { username, extra = [] }, claimValidationRules = [] }: JwtIssuer,
  path: string,
  { expressions }: CheckContext,
): readonly Violation[] {
  const { expression = '' } = username ?? {};
  const asks = (use: ExpressionUse, claim: string, texts: readonly (string | undefined)[]): boolean =>
    texts.some((text) => {
      const checked = text ? expressions.get(use, text).checked : undefined;
      return checked !== undefined && asksForClaim(checked.expr, claim);
    });
  const isVerified =
    asks('mapping', 'email_verified', [expression, ...extra.map((one) => one.valueExpression)]) ||
    asks(
      'claim rule',
      'email_verified',
      claimValidationRules.map((rule) => rule.expression),
    );
  return !asks('mapping', 'email', [expression]) || isVerified
    ? []
    : [
        invalid(
          path,
          expression,
          'claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression',
        ),
      ];
}
