import type { PolicyRule } from '../../api/kinds/role.js';

/** The abbreviations of verbs in the tables of bootstrap roles. */
const abbreviations: Readonly<Record<string, string>> = {
  R: 'get list watch',
  W: 'create delete deletecollection patch update',
  RW: 'create delete deletecollection get list patch update watch',
};

const words = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== '');
const sorted = (text: string): readonly string[] => [...words(text)].sort();

/** Returns a rule for resources. Verbs (or `R`, `W`, `RW`) and resources are separated by spaces. */
export const rule = (
  verbs: string,
  group: string | readonly string[],
  resources: string,
  resourceNames: readonly string[] = [],
): PolicyRule => ({
  verbs: sorted(abbreviations[verbs] ?? verbs),
  apiGroups: typeof group === 'string' ? [group] : [...group].sort(),
  resources: sorted(resources),
  ...(resourceNames.length > 0 ? { resourceNames: [...resourceNames].sort() } : {}),
});

/** Returns a rule for non-resource paths, which are separated by spaces. */
export const paths = (verbs: string, urls: string): PolicyRule => ({
  verbs: sorted(verbs),
  nonResourceURLs: sorted(urls),
});
