import type { PolicyRule } from '../api/kinds/role.js';
import { itemsPerStep, type Steps } from '../api/steps.js';
import { wildcard } from './rule-matching.js';

/** A query for rules: a matching rule has each of these values, or a wildcard in its place. */
export type RuleQuery =
  | {
      readonly verb: string;
      readonly group: string;
      /** The entries that cover the resource, such as `pods/log` and the wildcard for subresources. */
      readonly resources: readonly string[];
      /** The name of the object; if absent, only rules without resource names match. */
      readonly name?: string | undefined;
    }
  | { readonly verb: string; readonly path: string };

/**
 * Returns candidate rules in a few lists, selected by the one of verb, group, resource or name with the fewest rules.
 * Callers must still check each rule completely.
 */
export type FindCandidates = (query: RuleQuery) => readonly (readonly PolicyRule[])[];

const indexesByRules = new WeakMap<readonly PolicyRule[], FindCandidates>();

/** Returns the index of these rules; undefined if none has been built. */
export const ruleIndexOf = (rules: readonly PolicyRule[]): FindCandidates | undefined => indexesByRules.get(rules);

/** Returns the index of these rules, which is built once and cached with them. */
export function* makeRuleIndex(rules: readonly PolicyRule[]): Steps<FindCandidates> {
  const before = indexesByRules.get(rules);
  if (before !== undefined) return before;
  const [byVerb, byGroup, byResource, byName] = [new Index(), new Index(), new Index(), new Index()];
  for (const [at, rule] of rules.entries()) {
    const { verbs, apiGroups, resources, resourceNames } = rule;
    byVerb.add(verbs, rule);
    byGroup.add(apiGroups, rule);
    byResource.add(resources, rule);
    byName.add(resourceNames?.length ? resourceNames.map(named) : [unnamed], rule);
    if (at % itemsPerStep === 0) yield;
  }
  const find: FindCandidates = (query) => {
    const withVerb = byVerb.with(wildcard, query.verb);
    if ('path' in query) return withVerb;
    const { group, resources, name } = query;
    return fewest(
      fewest(withVerb, byGroup.with(wildcard, group)),
      fewest(byResource.with(wildcard, ...resources), byName.with(unnamed, ...nameOf(name))),
    );
  };
  indexesByRules.set(rules, find);
  return find;
}

const unnamed = '';
const named = (name: string): string => `=${name}`;
const nameOf = (name: string | undefined): readonly string[] => (name === undefined ? [] : [named(name)]);

/** Rules by their values in one field. */
class Index {
  readonly #rules = new Map<string, PolicyRule[]>();

  add(words: readonly string[] | null | undefined, rule: PolicyRule): void {
    for (const word of words ?? []) {
      const indexed = this.#rules.get(word);
      if (indexed === undefined) this.#rules.set(word, [rule]);
      else if (indexed.at(-1) !== rule) indexed.push(rule);
    }
  }

  with(...words: readonly string[]): readonly (readonly PolicyRule[])[] {
    return words.map((word) => this.#rules.get(word) ?? noRules);
  }
}
const noRules: readonly never[] = [];

type Lists = readonly (readonly PolicyRule[])[];
const sizeOf = (lists: Lists): number => lists.reduce((sum, { length }) => sum + length, 0);
const fewest = (a: Lists, b: Lists): Lists => (sizeOf(b) < sizeOf(a) ? b : a);
