import type { PolicyRule } from '../api/kinds/role.js';
import { oncePer } from '../api/once.js';
import { withoutTrailing } from '../api/trim.js';
import type { AccessAttributes } from './authorizer.js';

/** The wildcard for verbs, groups, resources and paths. */
export const wildcard = '*';

/** Longer lists are searched through a Set, which takes more memory. */
const manyWords = 16;
const lookupOf = oncePer((words: readonly string[]): ReadonlySet<string> => new Set(words));

/** Is the word in the list? Fast for long lists as well. */
export const includes = (words: readonly string[], word: string): boolean =>
  words.length < manyWords ? words.includes(word) : lookupOf(words).has(word);

/** Is the word, or the wildcard, in the list? */
export const hasWord = (words: readonly string[] | null | undefined, word: string): boolean =>
  words !== undefined && words !== null && (includes(words, wildcard) || includes(words, word));

/** `pods/log` is covered by itself and by the subresource of everything. */
export function resourcesCovering(resource: string): readonly string[] {
  const slash = resource.indexOf('/');
  return slash < 0 ? [resource] : [resource, `${wildcard}/${resource.slice(slash + 1)}`];
}

/** Does this rule allow the access? Resources and subresources are granted apart: `pods` does not cover `pods/log`. */
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

/** The empty name is what requests without one have. */
const nameMatches = (names: readonly string[], name = ''): boolean => names.length === 0 || includes(names, name);

/** `*` covers everything, `/a/*` what starts with `/a/`, any other text itself. */
export const urlCovers = (granted: string, path: string): boolean =>
  granted === path || (granted.endsWith(wildcard) && path.startsWith(withoutTrailing(granted, wildcard)));
