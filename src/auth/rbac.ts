import type { Domains } from '../api/domains.js';
import { aggregate, quote } from '../api/go-text.js';
import type { PolicyRule } from '../api/kinds/role.js';
import type { RoleRef } from '../api/kinds/role-binding.js';
import { oncePer } from '../api/once.js';
import { takeWithinBudget } from '../api/take-within-budget.js';
import type { UserInfo } from '../api/user.js';
import { runInTurns, TurnTaking } from '../runtime/turn-taking.js';
import type { AccessAttributes, Authorizer, ResourceRule } from './authorizer.js';
import type { ObjectSource } from './object-source.js';
import { type Grant, type RoleIndex, type RoleRules, roleIndexes } from './role-index.js';
import { type FindCandidates, makeRuleIndex, type RuleQuery, ruleIndexOf } from './rule-index.js';
import { ruleAllows } from './rule-matching.js';

/** The rules that a user holds, one list for each role, and the errors because of which rules are missing. */
interface HeldRules {
  readonly lists: readonly (readonly PolicyRule[])[];
  readonly errors: readonly string[];
}

/** The RBAC authorizer, with the lookups that admission needs. */
export interface Rbac extends Authorizer {
  rulesFor: NonNullable<Authorizer['rulesFor']>;
  /**
   * Returns the rules that a user holds in a namespace; with an empty namespace, only those granted cluster-wide. The error
   * for a missing role names the resource that is being written, as in Kubernetes.
   */
  rulesHeldBy(user: UserInfo, namespace: string, writing: { readonly plural: string }): Promise<HeldRules>;
  /** Returns the rules of a referenced role. A Role is looked up in the namespace. */
  rulesOf(roleRef: RoleRef, namespace: string): Promise<RoleRules>;
}

/** Authorizes by roles and bindings. Allows, or has no opinion, but never denies. */
export function rbac(objects: ObjectSource, domains: Domains): Rbac {
  const current = roleIndexes(objects);
  /** Returns the rules of each grant in turn, those of a role as often as it is granted. */
  const granted = (index: RoleIndex, user: UserInfo, namespace: string, plural?: string): HeldRules => {
    const lists: (readonly PolicyRule[])[] = [];
    const errors: string[] = [];
    for (const grant of index.grantsTo(user, namespace)) {
      const found = rulesOfGrant(index, grant, domains, plural);
      if (typeof found === 'string') errors.push(found);
      else lists.push(found);
    }
    return { lists, errors };
  };

  return {
    async authorize(attributes) {
      const index = await current();
      const errors: string[] = [];
      // A role that is granted more than once is checked once.
      const seen = new Set<readonly PolicyRule[]>();
      const namespace = attributes.path === undefined ? (attributes.namespace ?? '') : '';
      for (const grant of index.grantsTo(attributes.user, namespace)) {
        const found = rulesOfGrant(index, grant, domains);
        if (typeof found === 'string') errors.push(found);
        else if (!seen.has(found)) {
          seen.add(found);
          const find = found.length <= fewRules ? undefined : (ruleIndexOf(found) ?? (await indexed(found)));
          const lists = find === undefined ? [found] : find(ruleQueryOf(attributes));
          if (lists.some((rules) => rules.some((rule) => ruleAllows(rule, attributes))))
            return { verdict: 'allow', reason: `RBAC: allowed by ${grantText(grant)}` };
        }
      }
      return { verdict: 'no-opinion', reason: errors.length === 0 ? '' : `RBAC: ${aggregate(errors)}` };
    },

    async rulesFor(user, namespace) {
      // This blocks for some milliseconds, and there may be many requests at once.
      await new TurnTaking().next();
      const { lists, errors } = granted(await current(), user, namespace);
      const count = lists.reduce((sum, { length }) => sum + length, 0);
      const rules = takeWithinBudget(eachOf(lists), maxListed, lengthOf);
      const incomplete = rules.length < count;
      return {
        resourceRules: rules.filter(({ resources }) => resources?.length).map(resourceRule),
        nonResourceRules: rules
          .filter(({ nonResourceURLs }) => nonResourceURLs?.length)
          .map(({ verbs, nonResourceURLs }) => ({ verbs: verbs ?? [], nonResourceURLs: nonResourceURLs ?? [] })),
        incomplete,
        errors: incomplete ? [...errors, 'too many rules to list'] : errors,
      };
    },

    async rulesHeldBy(user, namespace, { plural }) {
      const { lists, errors } = granted(await current(), user, namespace, plural);
      // Several bindings may grant the same role.
      return { lists: [...new Set(lists)], errors };
    },
    rulesOf: async (roleRef, namespace) => (await current()).rulesOf(roleRef, namespace),
  };
}

/** The number of rules up to which scanning is faster than an index. */
const fewRules = 16;

/** The indexes that are being built, each once for all waiting callers. */
const beingIndexed = new WeakMap<readonly PolicyRule[], Promise<FindCandidates>>();
function indexed(rules: readonly PolicyRule[]): Promise<FindCandidates> {
  const indexing = beingIndexed.get(rules) ?? runInTurns(makeRuleIndex(rules));
  beingIndexed.set(rules, indexing);
  return indexing;
}

function ruleQueryOf({ verb, path, group, resource, subresource, name = '' }: AccessAttributes): RuleQuery {
  if (path !== undefined) return { verb, path };
  // The resource and subresource in a review may both contain slashes.
  return {
    verb,
    group,
    resources: subresource ? [`${resource}/${subresource}`, `*/${subresource}`] : [resource],
    name,
  };
}

function* eachOf<T>(lists: readonly (readonly T[])[]): Iterable<T> {
  for (const list of lists) yield* list;
}

/**
 * The maximum number of characters of listed rules, which are encoded in one piece: each binding to a role repeats all
 * its rules.
 */
const maxListed = 1_048_576;

/** The length of an empty rule in JSON. */
const membersLength = '{"verbs":[],"apiGroups":[],"resources":[],"resourceNames":[]},'.length;
const lengthOf = oncePer((rule: PolicyRule): number => {
  const texts = [rule.verbs, rule.apiGroups, rule.resources, rule.resourceNames, rule.nonResourceURLs];
  return texts.reduce((sum, list) => (list ?? []).reduce((total, text) => total + text.length + 3, sum), membersLength);
});

const resourceRule = ({ verbs, apiGroups, resources, resourceNames }: PolicyRule): ResourceRule => ({
  verbs: verbs ?? [],
  ...(apiGroups?.length ? { apiGroups } : {}),
  ...(resources?.length ? { resources } : {}),
  ...(resourceNames?.length ? { resourceNames } : {}),
});

/** Returns the rules of a grant, or the error because of which they are unknown. */
function rulesOfGrant(
  index: RoleIndex,
  { binding: { roleRef }, namespace }: Grant,
  { api }: Domains,
  called = roleRef.kind.toLowerCase(),
): readonly PolicyRule[] | string {
  const found = index.rulesOf(roleRef, namespace);
  if ('rules' in found) return found.rules;
  if (found.missing === 'kind') return unknownRoleKind(roleRef);
  return `${called}.rbac.authorization.${api} ${quote(roleRef.name)} not found`;
}

/** Returns the error for a roleRef that refers to no role. */
export const unknownRoleKind = ({ kind }: RoleRef): string => `unsupported role reference kind: ${quote(kind)}`;

function grantText({ binding, subject, namespace }: Grant): string {
  const { name = '' } = binding.metadata;
  const { roleRef } = binding;
  const bindingText =
    namespace === '' ? `ClusterRoleBinding ${quote(name)}` : `RoleBinding ${quote(`${name}/${namespace}`)}`;
  const subjectText =
    subject.kind === 'ServiceAccount'
      ? `${subject.kind} ${quote(`${subject.name}/${subject.namespace || namespace}`)}`
      : `${subject.kind} ${quote(subject.name)}`;
  return `${bindingText} of ${roleRef.kind} ${quote(roleRef.name)} to ${subjectText}`;
}
