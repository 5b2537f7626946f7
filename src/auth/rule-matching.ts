import type { PolicyRule } from '../api/kinds/role.js';
import { withoutTrailing } from '../api/trim.js';
import type { AccessAttributes } from './authorizer.js';

/** Every verb, group, resource or path. */
export const all = '*';

const has = (given: readonly string[] | null | undefined, wanted: string): boolean =>
  given !== undefined && given !== null && (given.includes(all) || given.includes(wanted));

/** Does this rule allow the access? Resources and subresources are granted apart: `pods` does not cover `pods/log`. */
export function ruleAllows(rule: PolicyRule, attributes: AccessAttributes): boolean {
  if (!has(rule.verbs, attributes.verb)) return false;
  if (attributes.path !== undefined)
    return (rule.nonResourceURLs ?? []).some((url) => urlCovers(url, attributes.path ?? ''));
  return (
    has(rule.apiGroups, attributes.group) &&
    resourceMatches(rule.resources ?? [], attributes) &&
    nameMatches(rule.resourceNames ?? [], attributes.name)
  );
}

function resourceMatches(resources: readonly string[], { resource, subresource }: AccessAttributes): boolean {
  if (resources.includes(all)) return true;
  if (!subresource) return resources.includes(resource);
  return resources.includes(`${resource}/${subresource}`) || resources.includes(`${all}/${subresource}`);
}

/** The empty name is what requests without one have. */
const nameMatches = (names: readonly string[], name = ''): boolean => names.length === 0 || names.includes(name);

/** `*` covers everything, `/a/*` what starts with `/a/`, any other text itself. */
export const urlCovers = (granted: string, path: string): boolean =>
  granted === path || (granted.endsWith(all) && path.startsWith(withoutTrailing(granted, all)));
