import type { PolicyRule } from '../api/kinds/role.js';
import { oncePer } from '../api/once.js';
import { runSync, type Steps } from '../api/steps.js';
import { type FindCandidates, makeRuleIndex, type RuleQuery } from './rule-index.js';
import { hasWord, includes, resourcesCovering, urlCovers } from './rule-matching.js';

/** The smallest permission: one verb on one resource of one group (with one name), or one verb on one path. */
export type RuleAtom = ResourceAtom | PathAtom;
interface ResourceAtom {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** The name of the object; absent for all objects. */
  readonly name?: string | undefined;
}
interface PathAtom {
  readonly verb: string;
  readonly path: string;
}

/** Returns how many atoms rules expand to; to be checked before they are expanded. */
export const atomCount = (rules: readonly PolicyRule[]): number =>
  rules.reduce((sum, { verbs, apiGroups, resources, resourceNames, nonResourceURLs }) => {
    const names = Math.max(resourceNames?.length ?? 0, 1);
    const ofResources = (apiGroups?.length ?? 0) * (resources?.length ?? 0) * names;
    return sum + (verbs?.length ?? 0) * (ofResources + (nonResourceURLs?.length ?? 0));
  }, 0);

/** Returns the number of strings in rules; to be checked before they are compared with anything. */
export const wordCount = oncePer((rules: readonly PolicyRule[]): number =>
  rules.reduce((sum, { verbs, apiGroups, resources, resourceNames, nonResourceURLs }) => {
    const lists = [verbs, apiGroups, resources, resourceNames, nonResourceURLs];
    return lists.reduce((words, list) => words + (list?.length ?? 0), sum);
  }, 0),
);

/** Returns the atoms of `rules` that no single rule of `held` covers, in the order in which they were written. */
export const uncoveredRules = (held: readonly PolicyRule[], rules: readonly PolicyRule[]): readonly RuleAtom[] =>
  runSync(uncoveredWithin([held], rules, Number.POSITIVE_INFINITY)) ?? [];

/** The number of comparisons in one step. */
const comparisonsInStep = 10_000;

/**
 * Like `uncoveredRules` for rules held in several lists, each of which is prepared once for all callers; undefined if it
 * takes more than `limit` comparisons.
 */
export function* uncoveredWithin(
  held: readonly (readonly PolicyRule[])[],
  rules: readonly PolicyRule[],
  limit: number,
): Steps<readonly RuleAtom[] | undefined> {
  const finders: FindCandidates[] = [];
  for (const list of held) finders.push(yield* makeRuleIndex(list));
  const missing: RuleAtom[] = [];
  let comparisons = 0;
  const isCovered = (atom: RuleAtom): boolean => {
    comparisons += finders.length - 1;
    return finders.some((find) =>
      find(ruleQueryOf(atom)).some((candidates) =>
        candidates.some((rule) => {
          comparisons += 'path' in atom ? 1 + (rule.nonResourceURLs?.length ?? 0) : 1;
          return comparisons > limit || covers(rule, atom);
        }),
      ),
    );
  };
  let pause = comparisonsInStep;
  for (const rule of rules) {
    for (const atom of atomsOf(rule)) {
      if (!isCovered(atom)) missing.push(atom);
      if (comparisons > limit) return undefined;
      if (comparisons < pause) continue;
      pause = comparisons + comparisonsInStep;
      yield;
    }
  }
  return missing;
}

function* atomsOf(rule: PolicyRule): Generator<RuleAtom> {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const names = resourceNames.length > 0 ? resourceNames : [undefined];
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs ?? []) {
        for (const name of names) yield { verb, group, resource, name };
      }
    }
  }
  for (const path of nonResourceURLs) {
    for (const verb of verbs ?? []) yield { verb, path };
  }
}

const ruleQueryOf = (atom: RuleAtom): RuleQuery =>
  'path' in atom ? atom : { ...atom, resources: resourcesCovering(atom.resource) };

function covers(rule: PolicyRule, atom: RuleAtom): boolean {
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
  const names = resourceNames ?? [];
  if (!hasWord(verbs, atom.verb)) return false;
  if ('path' in atom) return names.length === 0 && (nonResourceURLs ?? []).some((path) => urlCovers(path, atom.path));
  if (!hasWord(apiGroups, atom.group)) return false;
  if (names.length > 0 && (atom.name === undefined || !includes(names, atom.name))) return false;
  return resourcesCovering(atom.resource).some((resource) => hasWord(resources, resource));
}

/**
 * Combines atoms into rules: verbs of the same group, resource and name are merged, in the order in which they were
 * written.
 */
export function compactRules(atoms: readonly RuleAtom[]): readonly PolicyRule[] {
  const rules: PolicyRule[] = [];
  const verbsOf = new Map<string, string[]>();
  for (const atom of atoms) {
    if ('path' in atom) {
      rules.push({ nonResourceURLs: [atom.path], verbs: [atom.verb] });
      continue;
    }
    const key = JSON.stringify([atom.group, atom.resource, atom.name]);
    const known = verbsOf.get(key);
    if (known !== undefined) {
      known.push(atom.verb);
      continue;
    }
    const verbs = [atom.verb];
    verbsOf.set(key, verbs);
    rules.push({
      apiGroups: [atom.group],
      resources: [atom.resource],
      ...(atom.name === undefined ? {} : { resourceNames: [atom.name] }),
      verbs,
    });
  }
  return rules;
}
