import { anyString, boolean, type Checks, fields, integer, listOf, oneOf, problemText } from '../../src/api/checks.js';
import { keyUsages } from '../../src/api/kinds/certificate-signing-request.js';
import { messageOf } from '../../src/api/message-of.js';
import { servedSigner } from '../../src/api/signer-name.js';
import { parseRange } from './address-range.js';
import type { RequestFacts } from './facts.js';
import { parsePattern } from './pattern.js';

/** The rules by which requests are approved and denied automatically. The first rule that matches decides. */
export interface CertificatePolicy {
  /** Whether decisions are made (`enforce`, the default) or only reported (`shadow`). */
  readonly mode?: (typeof policyModes)[number];
  /** Decision about requests for signers that rules name, if no rule matches; by default `leave` (undecided). */
  readonly default?: (typeof policyDefaults)[number];
  readonly rules: readonly PolicyRule[];
}

const policyModes = ['enforce', 'shadow'] as const;
const policyDefaults = ['leave', 'deny'] as const;

/**
 * One rule. An approving rule matches a request in which it permits everything: a request must not contain names of a
 * kind that the rule does not list. A denying rule matches a request that contains, for each list of the rule, a value
 * in it.
 */
export interface PolicyRule {
  /** The name in the condition and in the log. */
  readonly name: string;
  readonly effect: (typeof ruleEffects)[number];
  /** Signer names, or `domain/*`. */
  readonly signers: readonly string[];
  /** The requesters. One entry of each list must match. */
  readonly requesters?: { readonly usernames?: readonly string[]; readonly groups?: readonly string[] };
  /** Usages as in `spec.usages`. */
  readonly usages?: readonly string[];
  /** The default of approving rules: RSA of 2048 bits or more, P-256, P-384, P-521, Ed25519. */
  readonly keys?: readonly KeyRule[];
  /** Patterns of subject fields, with parts separated by `:`. */
  readonly subject?: { readonly [field in SubjectField]?: readonly string[] };
  readonly names?: {
    /** Patterns of DNS names, with parts separated by `.`; case does not matter. */
    readonly dns?: readonly string[];
    /** Addresses, or ranges such as 10.0.0.0/8. */
    readonly ip?: readonly string[];
    /** Patterns of mail addresses, with parts separated by `@`. */
    readonly email?: readonly string[];
    /** Patterns of URIs, with parts separated by `/`, and in approving rules also by `?`, `#`, `%` and a backslash. */
    readonly uri?: readonly string[];
    /** Whether DNS names with a `*` may be approved. Default: no. */
    readonly wildcards?: boolean;
  };
  /**
   * An approving rule requires a requested lifetime that is at most this. A denying rule matches if it is longer, or
   * not requested.
   */
  readonly maxExpirationSeconds?: number;
  /**
   * A condition in an expression language, if a compiler is configured; it must hold in addition to everything else.
   */
  readonly expression?: string;
}

const ruleEffects = ['approve', 'deny'] as const;

export const subjectFields = [
  'commonName',
  'serialNumber',
  'countries',
  'organizations',
  'organizationalUnits',
  'localities',
  'provinces',
  'streetAddresses',
  'postalCodes',
] as const;
/** A part of the subject that a rule can restrict. */
export type SubjectField = (typeof subjectFields)[number];

const ruleKeyTypes = ['RSA', 'ECDSA', 'Ed25519', 'ML-DSA-44', 'ML-DSA-65', 'ML-DSA-87'] as const;

/** A type of key that a rule permits, and its minimum size. */
export interface KeyRule {
  readonly type: (typeof ruleKeyTypes)[number];
  /** The minimum size of the modulus or the curve. */
  readonly minBits?: number;
  readonly maxBits?: number;
}

/** Compiles an expression to a condition; throws an Error if the expression is invalid. */
export type ExpressionCompiler = (expression: string) => (facts: RequestFacts) => boolean;

const texts = listOf(anyString);
const positive = integer({ from: 1 });

const rule: Checks<PolicyRule> = {
  name: anyString,
  effect: oneOf(ruleEffects),
  signers: listOf(servedSigner),
  requesters: fields<NonNullable<PolicyRule['requesters']>>({ usernames: texts, groups: texts }),
  usages: texts,
  keys: listOf(fields<KeyRule>({ type: oneOf(ruleKeyTypes), minBits: positive, maxBits: positive }, 'type')),
  subject: fields(Object.fromEntries(subjectFields.map((field) => [field, texts]))),
  names: fields<NonNullable<PolicyRule['names']>>({
    dns: texts,
    ip: texts,
    email: texts,
    uri: texts,
    wildcards: boolean,
  }),
  maxExpirationSeconds: positive,
  expression: anyString,
};

/**
 * Checks of a policy's members, which may come from a file or from a program without types. Unknown members are errors,
 * because a misspelt condition would be ignored.
 */
export const policyChecks: Checks<CertificatePolicy> = {
  mode: oneOf(policyModes),
  default: oneOf(policyDefaults),
  rules: listOf(fields(rule, 'name', 'effect', 'signers')),
};
export const policyForm = fields(policyChecks, 'rules');

/**
 * Returns all errors in a policy, one sentence each, with the path of the field; only the first error if the policy
 * does not match its type.
 */
export function policyProblems(policy: CertificatePolicy, compile?: ExpressionCompiler): readonly string[] {
  const misshapen = policyForm(policy, '');
  if (misshapen !== undefined) return [problemText(misshapen)];
  const { rules } = policy;
  const names = rules.map(({ name }) => name);
  return rules.flatMap((rule, at) => [
    ...(rule.name === '' ? [`rules[${at}].name: must not be empty`] : []),
    ...(names.indexOf(rule.name) < at ? [`rules[${at}].name: duplicate rule ${JSON.stringify(rule.name)}`] : []),
    ...ruleProblems(rule, compile).map((problem) => `rules[${at}].${problem}`),
  ]);
}

function ruleProblems(rule: PolicyRule, compile: ExpressionCompiler | undefined): readonly string[] {
  const { effect, signers, requesters, usages, subject = {}, names = {}, keys = [], expression } = rule;
  const patterns: readonly (readonly [string, readonly string[] | undefined])[] = [
    ['requesters.usernames', requesters?.usernames],
    ['requesters.groups', requesters?.groups],
    ...subjectFields.map((field) => [`subject.${field}`, subject[field]] as const),
    ['names.dns', names.dns],
    ['names.email', names.email],
    ['names.uri', names.uri],
  ];
  const hasNoRequesters = requesters?.usernames === undefined && requesters?.groups === undefined;
  return [
    ...(signers.length === 0 ? ['signers: must name a signer'] : []),
    ...(effect === 'approve' && hasNoRequesters ? ['requesters: required in a rule that approves'] : []),
    ...(effect === 'approve' && usages === undefined ? ['usages: required in a rule that approves'] : []),
    ...(usages ?? [])
      .filter((usage) => !(keyUsages as readonly string[]).includes(usage))
      .map((usage) => `usages: ${JSON.stringify(usage)} is not a usage`),
    ...patterns.flatMap(([field, texts]) => (texts ?? []).flatMap((text) => errorsOf(field, () => parsePattern(text)))),
    ...(names.ip ?? [])
      .filter((text) => parseRange(text) === undefined)
      .map((text) => `names.ip: ${JSON.stringify(text)} is neither an address nor a range`),
    ...keys
      .filter(({ minBits = 0, maxBits = Infinity }) => minBits > maxBits)
      .map(() => 'keys: minBits is above maxBits'),
    ...expressionProblem(expression, compile),
  ];
}

function errorsOf(field: string, run: () => unknown): readonly string[] {
  try {
    run();
    return [];
  } catch (error) {
    return [`${field}: ${messageOf(error)}`];
  }
}

function expressionProblem(expression: string | undefined, compile: ExpressionCompiler | undefined): readonly string[] {
  if (expression === undefined) return [];
  if (compile === undefined) return ['expression: expressions are not supported here'];
  return errorsOf('expression', () => compile(expression));
}
