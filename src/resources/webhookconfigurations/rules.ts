import type { RuleWithOperations } from '../../api/kinds/webhook-configuration.js';
import {
  child,
  index,
  invalid,
  notSupportedTypedString,
  required,
  type Violation,
  validateEach,
} from '../../api/violations.js';

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const scopes = ['*', 'Cluster', 'Namespaced'];

type Items = readonly string[];

/** Validates one rule of a webhook. */
export function validateWebhookRule(rule: RuleWithOperations, path: string): readonly Violation[] {
  const at = (member: string): string => child(path, member);
  return [
    ...validateItems(rule.operations ?? [], at('operations'), 'operations'),
    ...validateEach(rule.operations ?? [], (operation, i) =>
      operations.includes(operation)
        ? []
        : [notSupportedTypedString(index(at('operations'), i), operation, operations)],
    ),
    ...validateItems(rule.apiGroups ?? [], at('apiGroups'), 'API groups'),
    ...validateItems(rule.apiVersions ?? [], at('apiVersions'), 'API versions'),
    ...validateEach(rule.apiVersions ?? [], (version, i) =>
      version === '' ? [required(index(at('apiVersions'), i))] : [],
    ),
    ...validateResources(rule.resources ?? [], at('resources')),
    ...(rule.scope === undefined || rule.scope === null || scopes.includes(rule.scope)
      ? []
      : [notSupportedTypedString(at('scope'), rule.scope, scopes)]),
  ];
}

/** Checks that there is at least one item, and that `*` stands alone. */
const validateItems = (items: Items, path: string, noun: string): readonly Violation[] => {
  if (items.length === 0) return [required(path)];
  return items.length > 1 && items.includes('*')
    ? [invalid(path, items, `if '*' is present, must not specify other ${noun}`)]
    : [];
};

/**
 * Reports entries that an earlier wildcard covers. As in Kubernetes, only earlier ones count, and of the entries
 * without a subresource only the last decides whether `*` stands beside another.
 */
function validateResources(resources: Items, path: string): readonly Violation[] {
  if (resources.length === 0) return [required(path)];
  const found: Violation[] = [];
  const allSubresourcesOf = new Set<string>();
  const everySubresource = new Set<string>();
  let lastIsNamed = false;
  for (const [at, entry] of resources.entries()) {
    if (entry === '') {
      found.push(required(index(path, at)));
      continue;
    }
    const slash = entry.indexOf('/');
    if (slash < 0) {
      lastIsNamed = entry !== '*';
      continue;
    }
    const [resource, subresource] = [entry.slice(0, slash), entry.slice(slash + 1)];
    const covered = (by: string): void => {
      found.push(invalid(index(path, at), entry, `if '${by}' is present, must not specify ${entry}`));
    };
    if (allSubresourcesOf.has(resource)) covered(`${resource}/*`);
    if (everySubresource.has(subresource)) covered(`*/${subresource}`);
    if (subresource === '*') allSubresourcesOf.add(resource);
    if (resource === '*') everySubresource.add(subresource);
  }
  if (resources.length > 1 && resources.includes('*/*')) {
    found.push(invalid(path, resources, "if '*/*' is present, must not specify other resources"));
  }
  if (resources.includes('*') && lastIsNamed) {
    found.push(invalid(path, resources, "if '*' is present, must not specify other resources without subresources"));
  }
  return found;
}
