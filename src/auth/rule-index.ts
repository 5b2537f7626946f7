import type { PolicyRule } from '../api/kinds/role.js';
import { itemsInStep, type Steps } from '../api/steps.js';
import { wildcard } from './rule-matching.js';

/** What rules are looked for: those that allow it have all of these words, or words for all of them. */
export type RuleQuery =
  | {
      readonly verb: string;
      readonly group: string;
      /** All that cover it. */
      readonly resources: readonly string[];
      /** Absent: what allows it names nobody. */
      readonly name?: string | undefined;
    }
  | { readonly verb: string; readonly path: string };

/**
 * Finds the rules that may allow something, in a few lists: of those with its verb, with its group, with its resource and
 * with its name the fewest. What they say together is still to be looked at.
 */
export type FindCandidates = (sought: RuleQuery) => readonly (readonly PolicyRule[])[];

const known = new WeakMap<readonly PolicyRule[], FindCandidates>();

/** The index of these rules if there is one. */
export const ruleIndexOf = (rules: readonly PolicyRule[]): FindCandidates | undefined => known.get(rules);

/** The index of these rules, made once and kept with them. */
export function* makeRuleIndex(rules: readonly PolicyRule[]): Steps<FindCandidates> {
  const before = known.get(rules);
  if (before !== undefined) return before;
  const [byVerb, byGroup, byResource, byName] = [new Index(), new Index(), new Index(), new Index()];
  for (const [at, rule] of rules.entries()) {
    const { verbs, apiGroups, resources, resourceNames } = rule;
    byVerb.add(verbs, rule);
    byGroup.add(apiGroups, rule);
    byResource.add(resources, rule);
    byName.add(resourceNames?.length ? resourceNames.map(named) : [unnamed], rule);
    if (at % itemsInStep === 0) yield;
  }
  const find: FindCandidates = (sought) => {
    const withVerb = byVerb.with(wildcard, sought.verb);
    if ('path' in sought) return withVerb;
    const { group, resources, name } = sought;
    return fewest(
      fewest(withVerb, byGroup.with(wildcard, group)),
      fewest(byResource.with(wildcard, ...resources), byName.with(unnamed, ...nameOf(name))),
    );
  };
  known.set(rules, find);
  return find;
}

const unnamed = '';
const named = (name: string): string => `=${name}`;
const nameOf = (name: string | undefined): readonly string[] => (name === undefined ? [] : [named(name)]);

/** Rules by the words that they have in one place. */
class Index {
  readonly #rules = new Map<string, PolicyRule[]>();

  add(words: readonly string[] | null | undefined, rule: PolicyRule): void {
    for (const word of words ?? []) {
      const there = this.#rules.get(word);
      if (there === undefined) this.#rules.set(word, [rule]);
      else if (there.at(-1) !== rule) there.push(rule);
    }
  }

  with(...words: readonly string[]): readonly (readonly PolicyRule[])[] {
    return words.map((word) => this.#rules.get(word) ?? nobody);
  }
}
const nobody: readonly never[] = [];

type Lists = readonly (readonly PolicyRule[])[];
const sizeOf = (lists: Lists): number => lists.reduce((sum, { length }) => sum + length, 0);
const fewest = (a: Lists, b: Lists): Lists => (sizeOf(b) < sizeOf(a) ? b : a);
