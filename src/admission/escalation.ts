import { type ApiError, forbidden } from '../api/errors.js';
import { aggregate, quote, quoteList } from '../api/go-text.js';
import type { PolicyRule } from '../api/kinds/role.js';
import type { ApiObject } from '../api/object.js';
import { takeWithinBudget } from '../api/take-within-budget.js';
import { type UserInfo, wellKnown } from '../api/user.js';
import type { Rbac } from '../auth/rbac.js';
import { atomCount, compactRules, type RuleAtom, uncoveredWithin, wordCount } from '../auth/rule-coverage.js';
import { runInLaterTurns } from '../runtime/turn-taking.js';
import type { AdmissionAttributes } from './admission-step.js';
import { namedSubject } from './admission-subject.js';

/**
 * Checks against privilege escalation for writes of roles and bindings: users cannot grant permissions that they do not
 * have.
 */

/**
 * The maximum number of single permissions in a grant. Larger grants are refused without a check, as are grants that
 * need more comparisons with the user's own rules than this.
 */
const maxAtoms = 25_000;
const maxComparisons = 5_000_000;
/** The maximum number of words in rules; rules with more are not compared either. */
const maxWords = 500_000;
/** The maximum number of characters of the missing permissions in a refusal: there may be many, with long names. */
const maxText = 262_144;

/** Whether a user is a member of `system:masters`, who may grant everything. */
export const isPrivileged = ({ groups }: UserInfo): boolean => groups.includes(wellKnown.masters);

/**
 * Returns the refusal of a grant of rules that the user does not hold in the namespace (empty: cluster-wide); undefined
 * if the user holds all of them.
 */
export async function escalationRefusal(
  rbac: Rbac,
  attributes: AdmissionAttributes,
  rules: readonly PolicyRule[],
): Promise<ApiError | undefined> {
  const { user, key, resource } = attributes;
  const namespace = resource.namespaced ? (key.namespace ?? '') : '';
  const held = await rbac.rulesHeldBy(user, namespace, resource);
  const words = held.lists.reduce((sum, list) => sum + wordCount(list), 0);
  const isTooMuch = atomCount(rules) > maxAtoms || words > maxWords;
  const missing = isTooMuch ? undefined : await runInLaterTurns(uncoveredWithin(held.lists, rules, maxComparisons));
  if (missing === undefined) {
    return forbidden(namedSubject(attributes), 'the rules expand to too many permissions to check');
  }
  if (missing.length === 0) return undefined;
  const named = takeWithinBudget(missing, maxText, lengthOf);
  const lines = [...new Set(compactRules(named).map(ruleText))].sort();
  if (named.length < missing.length) lines.push('...');
  const trouble = held.errors.length > 0 ? `; resolution errors: [${aggregate(held.errors)}]` : '';
  return forbidden(
    namedSubject(attributes),
    `user ${quote(user.username)} (groups=${quoteList(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}${trouble}`,
  );
}

const lengthOf = (atom: RuleAtom): number =>
  Object.values(atom).reduce<number>((sum, text) => sum + (text?.length ?? 0), 0);

/** Formats a rule, without empty members: `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`. */
function ruleText({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const members = [
    ['APIGroups', apiGroups],
    ['Resources', resources],
    ['NonResourceURLs', nonResourceURLs],
    ['ResourceNames', resourceNames],
    ['Verbs', verbs],
  ] as const;
  const texts = members.flatMap(([name, values]) => (values?.length ? [`${name}:${quoteList(values)}`] : []));
  return `{${texts.join(', ')}}`;
}

/** The fields that the garbage collector and the server itself change. */
const collectorFields: readonly string[] = ['ownerReferences', 'finalizers', 'managedFields', 'selfLink'];

/** Whether an update changes only fields that the garbage collector must be able to change. */
export function changesOnlyCollectorFields(next: ApiObject, previous: ApiObject | undefined): boolean {
  if (previous === undefined) return false;
  return isSame(without(next), without(previous));
}

const without = (object: ApiObject): object => ({
  ...object,
  metadata: Object.fromEntries(Object.entries(object.metadata).filter(([name]) => !collectorFields.includes(name))),
});

/** Whether two values are equal in content. Absent, null and empty values are equal. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b || (isNothing(a) && isNothing(b))) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => isSame(item, b[i]));
  }
  const [left, right] = [new Map<string, unknown>(Object.entries(a)), new Map<string, unknown>(Object.entries(b))];
  return [...new Set([...left.keys(), ...right.keys()])].every((key) => isSame(left.get(key), right.get(key)));
}

const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);
