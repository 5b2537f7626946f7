import type { Domains } from '../../src/api/domains.js';
import { asciiLowerCase } from '../../src/api/go-text.js';
import { messageOf } from '../../src/api/message-of.js';
import { coversSigner } from '../../src/api/signer-name.js';
import { takeWithinBudget } from '../../src/api/take-within-budget.js';
import { signerSpellings } from '../../src/api/well-known-signers.js';
import type { PublicKey } from '../../src/pki/public-key.js';
import { inRange, parseRange } from './address-range.js';
import { type RequestFacts, substitutesOf } from './facts.js';
import { matcher, type PatternOptions, parsePattern } from './pattern.js';
import {
  type CertificatePolicy,
  type ExpressionCompiler,
  type KeyRule,
  type PolicyRule,
  policyProblems,
  subjectFields,
} from './policy.js';
import { hasDotSegments, withoutDetours } from './uri-detours.js';

/** The decision of a policy about a request. */
export type Decision =
  | {
      readonly verdict: 'approve' | 'deny';
      /** The name of the rule; undefined for the policy's default. */
      readonly rule: string | undefined;
      /** The message of the condition. */
      readonly message: string;
    }
  | {
      readonly verdict: 'leave';
      /** Why each rule for the signer did not match, in their order; empty if the policy has no rule for the signer. */
      readonly because: readonly { readonly rule: string; readonly mismatch: string }[];
    };

/** A compiled policy. Pure: the same facts get the same decision. */
export type Decide = (facts: RequestFacts) => Decision;

export interface PolicyOptions {
  readonly expressions?: ExpressionCompiler;
  readonly domains?: Domains;
}

/** Compiles a policy. Throws an Error with the first error in it. */
export function compilePolicy(policy: CertificatePolicy, { expressions, domains }: PolicyOptions = {}): Decide {
  const [problem] = policyProblems(policy, expressions);
  if (problem !== undefined) throw new Error(`certificate policy: ${problem}`);
  const rules = policy.rules.map((rule) => ({
    rule,
    signers: rule.signers.flatMap((signer) => signerSpellings(signer, domains)),
    mismatchOf: compileRule(rule, expressions),
  }));
  return (facts) => {
    const mismatches: { readonly rule: string; readonly mismatch: string }[] = [];
    for (const { rule, signers, mismatchOf } of rules) {
      if (!signers.some((signer) => coversSigner(signer, facts.signerName))) continue;
      const mismatch = mismatchOf(facts);
      if (typeof mismatch === 'object')
        return { verdict: 'leave', because: [...mismatches, { rule: rule.name, ...mismatch }] };
      if (mismatch !== undefined) {
        mismatches.push({ rule: rule.name, mismatch });
        continue;
      }
      const word = rule.effect === 'approve' ? 'Approved' : 'Denied';
      const message = `${word} by rule ${JSON.stringify(rule.name)} of the certificate policy.`;
      return { verdict: rule.effect, rule: rule.name, message };
    }
    if (mismatches.length > 0 && policy.default === 'deny') {
      return { verdict: 'deny', rule: undefined, message: 'Denied by the certificate policy: no rule matches.' };
    }
    return { verdict: 'leave', because: mismatches };
  };
}

/** Why a rule does not match: undefined if it does; an object if that cannot be determined, which ends the search. */
type Mismatch = string | { readonly mismatch: string } | undefined;

function compileRule(rule: PolicyRule, compile: ExpressionCompiler | undefined): (facts: RequestFacts) => Mismatch {
  const tests = [...(rule.effect === 'approve' ? approving(rule) : denying(rule))];
  const condition = rule.expression === undefined || compile === undefined ? undefined : compile(rule.expression);
  return (facts) => {
    for (const test of tests) {
      const mismatch = test(facts);
      if (mismatch !== undefined) return mismatch;
    }
    if (condition === undefined) return undefined;
    try {
      return condition(facts) ? undefined : 'the expression is false';
    } catch (error) {
      return { mismatch: `the expression failed: ${messageOf(error)}` };
    }
  };
}

/** Returns the reason for a mismatch or violation; undefined if there is none. */
type Test = (facts: RequestFacts) => string | undefined;

/** Tests whether values of a request match. */
type ValueTest = (facts: RequestFacts) => (value: string) => boolean;

/** A list of values in a request, and the entries of a rule for it. */
interface NameList {
  readonly what: string;
  readonly allowed: readonly string[] | undefined;
  readonly values: (facts: RequestFacts) => readonly string[];
  /** Returns the test for one entry of the rule. */
  readonly fits: (entry: string) => ValueTest;
}

interface Patterned extends Pick<PatternOptions, 'wildcards' | 'caseless'> {
  /** Converts entries and values to lower case, but not placeholders for the requester's name. */
  readonly fold?: (text: string) => string;
}

const patterned =
  (separators: string, { fold = (text) => text, ...matching }: Patterned = {}) =>
  (entry: string): ValueTest => {
    const pattern = parsePattern(fold(entry));
    return (facts) => {
      const fits = matcher(pattern, { separators, ...matching, substitutes: substitutesOf(facts) });
      return (value) => fits(fold(value));
    };
  };

/** Returns the range of the domain in a mail address, where case does not matter (RFC 5321 section 2.4). */
const domainIn = (text: string): [number, number] => [text.lastIndexOf('@') + 1, text.length];
/** Returns the range of the scheme and the host in a URI, where case does not matter (RFC 3986 section 6.2.2.1). */
const hostIn = (text: string): [number, number] => [0, /^(?:[^/?#]*:)?(?:\/\/)?[^/?#]*/.exec(text)?.[0].length ?? 0];
const anywhereIn = (text: string): [number, number] => [0, text.length];

function ranged(entry: string): ValueTest {
  const range = parseRange(entry);
  return () => (value) => range !== undefined && inRange(range, value);
}

/** Returns the lists of a request that a rule may restrict, in the order they are checked. */
function lists({ effect, usages, subject = {}, names = {} }: PolicyRule): readonly NameList[] {
  const fits = effect === 'approve' ? approvedNames : deniedNames;
  return [
    {
      what: 'usage',
      allowed: usages,
      values: (facts) => facts.usages,
      fits: (entry) => () => (value) => value === entry,
    },
    ...subjectFields.map(
      (field): NameList => ({
        what: `subject ${field}`,
        allowed: subject[field],
        values: ({ request }) => [request.subject[field]].flat().filter((text) => text !== ''),
        fits: patterned(':'),
      }),
    ),
    { what: 'DNS name', allowed: names.dns, values: ({ request }) => request.dnsNames, fits: fits.dns },
    { what: 'IP address', allowed: names.ip, values: ({ request }) => request.ipAddresses, fits: ranged },
    { what: 'mail address', allowed: names.email, values: ({ request }) => request.emailAddresses, fits: fits.email },
    { what: 'URI', allowed: names.uri, values: ({ request }) => request.uris, fits: fits.uri },
  ];
}

type Names = Readonly<Record<'dns' | 'email' | 'uri', (entry: string) => ValueTest>>;

/**
 * The matching of approving rules: no certificate is approved for a name that differs from an allowed one in case, for
 * a host because of what follows it in the URI, or for a path that some programs resolve to another one.
 */
const approvedNames: Names = {
  dns: (entry) => {
    const fits = patterned('.', { fold: asciiLowerCase })(entry);
    return (facts) => {
      const test = fits(facts);
      return (name) => !name.split('.').includes('') && test(name);
    };
  },
  email: patterned('@'),
  uri: (entry) => {
    const fits = patterned('/?#%\\')(entry);
    return (facts) => {
      const test = fits(facts);
      return (uri) => !hasDotSegments(uri) && test(uri);
    };
  },
};

/** The matching of denying rules: case, queries, wildcards and alternative spellings of a name do not evade a rule. */
const deniedNames: Names = {
  dns: patterned('.', { caseless: anywhereIn, wildcards: true }),
  email: patterned('@', { caseless: domainIn }),
  uri: (entry) => {
    const fits = patterned('/', { caseless: hostIn })(entry);
    return (facts) => {
      const test = fits(facts);
      return (uri) => test(uri) || test(withoutDetours(uri));
    };
  },
};

/**
 * The maximum number and length of names that are decided automatically; requests beyond them are left to an
 * administrator.
 */
const maxValues = 1_000;
const maxLength = 4_096;
/** The maximum number of characters of all values of a list together. */
const maxCharacters = 65_536;

function excess(label: string, values: readonly string[]): string | undefined {
  if (values.length > maxValues) return `there are more than ${maxValues} of ${label}`;
  const long = values.find((value) => value.length > maxLength);
  if (long !== undefined) return `${label} ${cut(long)} is too long`;
  const together = values.reduce((sum, value) => sum + value.length, 0);
  return together > maxCharacters ? `the ${values.length} of ${label} are too long` : undefined;
}

function* approving(rule: PolicyRule): Generator<Test> {
  yield requester(rule);
  yield ({ unusual }) => unusual;
  yield ({ request }) => {
    const rules = rule.keys ?? usualKeys;
    return rules.some((key) => keyFits(key, request.publicKey))
      ? undefined
      : `a key of ${keyText(request.publicKey)} is not allowed`;
  };
  for (const { what: label, allowed = [], values, fits } of lists(rule)) {
    const tests = allowed.map(fits);
    yield (facts) => {
      const requested = values(facts);
      const wrong = excess(label, requested);
      if (wrong !== undefined) return wrong;
      const fitting = tests.map((test) => test(facts));
      const foreign = requested.find((value) => !fitting.some((fits) => fits(value)));
      return foreign === undefined ? undefined : `${label} ${cut(foreign)} is not allowed`;
    };
  }
  yield ({ request }) =>
    rule.subject?.commonName !== undefined && request.subject.commonName === ''
      ? 'the common name is missing'
      : undefined;
  yield ({ request }) => {
    const wild = rule.names?.wildcards ? undefined : request.dnsNames.find((name) => name.includes('*'));
    return wild === undefined ? undefined : `DNS name ${cut(wild)} is a wildcard`;
  };
  yield (facts) => (isTooLong(rule, facts) ? 'the lifetime is longer than allowed, or not set' : undefined);
}

function* denying(rule: PolicyRule): Generator<Test> {
  yield requester(rule);
  const { keys, maxExpirationSeconds } = rule;
  if (keys !== undefined) {
    yield ({ request }) =>
      keys.some((key) => keyFits(key, request.publicKey)) ? undefined : 'the key is not one of those';
  }
  for (const { what: label, allowed, values, fits } of lists(rule)) {
    if (allowed === undefined) continue;
    const tests = allowed.map(fits);
    yield (facts) => {
      const requested = values(facts);
      const fitting = tests.map((test) => test(facts));
      const looked = takeWithinBudget(requested.slice(0, maxValues), maxCharacters, ({ length }) => length);
      if (looked.some((value) => fitting.some((fits) => fits(value)))) return undefined;
      // A request with more values than are examined is not denied by this rule, but no approving rule matches it
      // either.
      return excess(label, requested) ?? `no ${label} is named`;
    };
  }
  if (maxExpirationSeconds !== undefined) {
    yield (facts) => (isTooLong(rule, facts) ? undefined : 'the lifetime is short enough');
  }
}

function requester({ requesters = {} }: PolicyRule): Test {
  const usernames = requesters.usernames?.map(patterned(':'));
  const groups = requesters.groups?.map(patterned(':'));
  return (facts) => {
    if (usernames !== undefined && !usernames.some((test) => test(facts)(facts.username)))
      return 'the requester is not one of those';
    const fitting = groups?.map((test) => test(facts));
    return fitting === undefined || facts.groups.some((group) => fitting.some((fits) => fits(group)))
      ? undefined
      : 'the requester is in none of the groups';
  };
}

const isTooLong = ({ maxExpirationSeconds }: PolicyRule, { expirationSeconds }: RequestFacts): boolean =>
  maxExpirationSeconds !== undefined && (expirationSeconds ?? Number.POSITIVE_INFINITY) > maxExpirationSeconds;

const usualKeys: readonly KeyRule[] = [
  { type: 'RSA', minBits: 2_048 },
  { type: 'ECDSA', minBits: 256 },
  { type: 'Ed25519' },
];

const keyFits = (
  { type, minBits = 0, maxBits = Number.POSITIVE_INFINITY }: KeyRule,
  { kind, bits }: PublicKey,
): boolean => kind === type && bits >= minBits && bits <= maxBits;

const keyText = ({ kind, bits }: PublicKey): string => `${kind} with ${bits} bits`;

/** Formats a value for a message: quoted, with bounded length. */
const cut = (text: string): string => JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
