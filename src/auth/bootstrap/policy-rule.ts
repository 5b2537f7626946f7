import type { PolicyRule } from '../../api/kinds/role.js';

/** Verbs as the tables of bootstrap roles abbreviate them. */
const abbreviations: Readonly<Record<string, string>> = {
  R: 'get list watch',
  W: 'create delete deletecollection patch update',
  RW: 'create delete deletecollection get list patch update watch',
};

const words = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== '');
const sorted = (text: string): readonly string[] => [...words(text)].sort();

/** Verbs (or `R`, `W`, `RW`) and resources, separated by spaces. */
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

/** A rule about paths, separated by spaces. */
export const paths = (verbs: string, urls: string): PolicyRule => ({
  verbs: sorted(verbs),
  nonResourceURLs: sorted(urls),
});
