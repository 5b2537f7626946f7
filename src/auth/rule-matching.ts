import type { PolicyRule } from '../api/kinds/role.js';
import { oncePer } from '../api/once.js';
import { withoutTrailing } from '../api/trim.js';
import type { AccessAttributes } from './authorizer.js';

/** The wildcard for verbs, groups, resources and paths. */
export const wildcard = '*';

/** The length beyond which a list is searched by means of a Set, which takes more memory. */
const manyWords = 16;
const lookupOf = oncePer((words: readonly string[]): ReadonlySet<string> => new Set(words));

/** Whether the word is in the list. Also fast for long lists. */
export const includes = (words: readonly string[], word: string): boolean =>
  words.length < manyWords ? words.includes(word) : lookupOf(words).has(word);

/** Whether the word or the wildcard is in the list. */
export const hasWord = (words: readonly string[] | null | undefined, word: string): boolean =>
  words !== undefined && words !== null && (includes(words, wildcard) || includes(words, word));

/** Returns the entries that cover a resource: `pods/log` is covered by itself and by that subresource of all resources. */
export function resourcesCovering(resource: string): readonly string[] {
  const slash = resource.indexOf('/');
  return slash < 0 ? [resource] : [resource, `${wildcard}/${resource.slice(slash + 1)}`];
}

/** Whether this rule allows the access. Resources and subresources are granted separately: `pods` does not cover `pods/log`. */
export function ruleAllows(rule: PolicyRule, attributes: AccessAttributes): boolean {
  if (!hasWord(rule.verbs, attributes.verb)) return false;
  if (attributes.path !== undefined)
    return (rule.nonResourceURLs ?? []).some((url) => urlCovers(url, attributes.path ?? ''));
  return (
    hasWord(rule.apiGroups, attributes.group) &&
    resourceMatches(rule.resources ?? [], attributes) &&
    nameMatches(rule.resourceNames ?? [], attributes.name)
  );
}

function resourceMatches(resources: readonly string[], { resource, subresource }: AccessAttributes): boolean {
  if (includes(resources, wildcard)) return true;
  if (!subresource) return includes(resources, resource);
  return includes(resources, `${resource}/${subresource}`) || includes(resources, `${wildcard}/${subresource}`);
}

/** Whether the names of a rule cover a name; requests without one have the empty name. */
const nameMatches = (names: readonly string[], name = ''): boolean => names.length === 0 || includes(names, name);

/**
 * Whether a path of a rule covers a path: `*` covers every path, `/a/*` paths that begin with `/a/`, and any other text
 * only itself.
 */
export const urlCovers = (granted: string, path: string): boolean =>
  granted === path || (granted.endsWith(wildcard) && path.startsWith(withoutTrailing(granted, wildcard)));
