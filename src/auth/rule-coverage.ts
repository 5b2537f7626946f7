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

/** The atoms of `rules` that no single rule of `held` covers, in the order written. */
export function uncovered(held: readonly PolicyRule[], rules: readonly PolicyRule[]): readonly RuleAtom[] {
  const owners = held.map(ownerOf);
  const missing: RuleAtom[] = [];
  for (const rule of rules) {
    for (const atom of atomsOf(rule)) {
      if (!owners.some((owner) => covers(owner, atom))) missing.push(atom);
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
  if (resources.has(all) || resources.has(atom.resource)) return true;
  const slash = atom.resource.indexOf('/');
  return slash >= 0 && resources.has(`${all}/${atom.resource.slice(slash + 1)}`);
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
