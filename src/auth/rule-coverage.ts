import type { PolicyRule } from '../api/kinds/role.js';
import { all, urlCovers } from './rule-matching.js';

/** The smallest right: one verb on one resource of one group (of one name), or one verb on one path. */
export type RuleAtom = ResourceAtom | PathAtom;
export interface ResourceAtom {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** Absent: every name. */
  readonly name?: string | undefined;
}
export interface PathAtom {
  readonly verb: string;
  readonly path: string;
}

/** How many atoms rules amount to; to be looked at before they are taken apart. */
export const atomCount = (rules: readonly PolicyRule[]): number =>
  rules.reduce((sum, { verbs, apiGroups, resources, resourceNames, nonResourceURLs }) => {
    const names = Math.max(resourceNames?.length ?? 0, 1);
    const ofResources = (apiGroups?.length ?? 0) * (resources?.length ?? 0) * names;
    return sum + (verbs?.length ?? 0) * (ofResources + (nonResourceURLs?.length ?? 0));
  }, 0);

/** How many words there are in rules; to be looked at before they are compared with anything. */
export const wordCount = (rules: readonly PolicyRule[]): number =>
  rules.reduce((sum, { verbs, apiGroups, resources, resourceNames, nonResourceURLs }) => {
    const lists = [verbs, apiGroups, resources, resourceNames, nonResourceURLs];
    return lists.reduce((words, list) => words + (list?.length ?? 0), sum);
  }, 0);

/**
 * The atoms of `rules` that no single rule of `held` covers, in the order written; undefined if it takes more than
 * `limit` comparisons to tell.
 */
export function uncovered(held: readonly PolicyRule[], rules: readonly PolicyRule[]): readonly RuleAtom[];
export function uncovered(
  held: readonly PolicyRule[],
  rules: readonly PolicyRule[],
  limit: number,
): readonly RuleAtom[] | undefined;
export function uncovered(
  held: readonly PolicyRule[],
  rules: readonly PolicyRule[],
  limit = Number.POSITIVE_INFINITY,
): readonly RuleAtom[] | undefined {
  const candidatesFor = candidatesAmong(held.map(ownerOf));
  const missing: RuleAtom[] = [];
  let comparisons = 0;
  const isCovered = (atom: RuleAtom): boolean =>
    candidatesFor(atom).some((owners) =>
      owners.some((owner) => {
        comparisons += 'path' in atom ? 1 + owner.paths.length : 1;
        return comparisons > limit || covers(owner, atom);
      }),
    );
  for (const rule of rules) {
    for (const atom of atomsOf(rule)) {
      if (!isCovered(atom)) missing.push(atom);
      if (comparisons > limit) return undefined;
    }
  }
  return missing;
}

/** Finds who may cover an atom: of the rules with its verb, those with its group and those with its resource, the fewest. */
function candidatesAmong(owners: readonly Owner[]): (atom: RuleAtom) => readonly (readonly Owner[])[] {
  const finder = (member: 'verbs' | 'groups' | 'resources') => {
    const index = new Map<string, Owner[]>();
    for (const owner of owners) {
      for (const value of owner[member]) {
        const there = index.get(value);
        if (there === undefined) index.set(value, [owner]);
        else there.push(owner);
      }
    }
    return (...values: readonly string[]) => [all, ...values].map((value) => index.get(value) ?? []);
  };
  const [byVerb, byGroup, byResource] = [finder('verbs'), finder('groups'), finder('resources')];
  return (atom) => {
    const withVerb = byVerb(atom.verb);
    if ('path' in atom) return withVerb;
    const found = [withVerb, byGroup(atom.group), byResource(...resourcesCovering(atom.resource))];
    return found.reduce((fewest, lists) => (sizeOf(lists) < sizeOf(fewest) ? lists : fewest));
  };
}

const sizeOf = (lists: readonly (readonly unknown[])[]): number => lists.reduce((sum, { length }) => sum + length, 0);

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

interface Owner {
  readonly verbs: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  readonly resources: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
  readonly paths: readonly string[];
}

const ownerOf = (rule: PolicyRule): Owner => ({
  verbs: new Set(rule.verbs ?? []),
  groups: new Set(rule.apiGroups ?? []),
  resources: new Set(rule.resources ?? []),
  names: new Set(rule.resourceNames ?? []),
  paths: rule.nonResourceURLs ?? [],
});

function covers({ verbs, groups, resources, names, paths }: Owner, atom: RuleAtom): boolean {
  if (!verbs.has(all) && !verbs.has(atom.verb)) return false;
  if ('path' in atom) return names.size === 0 && paths.some((path) => urlCovers(path, atom.path));
  if (!groups.has(all) && !groups.has(atom.group)) return false;
  if (names.size > 0 && (atom.name === undefined || !names.has(atom.name))) return false;
  return resources.has(all) || resourcesCovering(atom.resource).some((resource) => resources.has(resource));
}

/** `pods/log` is covered by itself and by the subresource of everything. */
function resourcesCovering(resource: string): readonly string[] {
  const slash = resource.indexOf('/');
  return slash < 0 ? [resource] : [resource, `${all}/${resource.slice(slash + 1)}`];
}

/** Atoms as rules again: verbs of the same group, resource and name together, in the order written. */
export function compacted(atoms: readonly RuleAtom[]): readonly PolicyRule[] {
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
