import { type Domains, defaultDomains } from '../../api/domains.js';
import type { ClusterRole, PolicyRule, Role } from '../../api/kinds/role.js';
import type { ClusterRoleBinding, RoleBinding, Subject } from '../../api/kinds/role-binding.js';
import type { ApiObject } from '../../api/object.js';
import { compactRules, uncoveredRules } from '../rule-coverage.js';
import { autoUpdateAnnotation } from './policy.js';

/** What must be written so that an object has at least the content of the policy. */
export type Reconciliation<T> =
  | { readonly action: 'none' }
  | { readonly action: 'create' | 'update' | 'recreate'; readonly object: T };

/**
 * Compares a bootstrap role or binding with the stored one. Adds what is missing and never removes anything; a binding
 * to another role is recreated; an object with the annotation autoupdate `false` is left unchanged. Pure.
 */
export function reconcileBootstrap<T extends ClusterRole | Role | ClusterRoleBinding | RoleBinding>(
  existing: T | undefined,
  expected: T,
  domains: Domains = defaultDomains,
): Reconciliation<T> {
  if (existing === undefined) return { action: 'create', object: expected };
  if (existing.metadata.annotations?.[autoUpdateAnnotation(domains)] === 'false') return { action: 'none' };
  if (isBinding(existing) && isBinding(expected) && !sameRole(existing, expected)) {
    return { action: 'recreate', object: expected };
  }
  const changes = { ...metadataChanges(existing, expected), ...contentChanges(existing, expected) };
  if (Object.keys(changes).length === 0) return { action: 'none' };
  return { action: 'update', object: { ...existing, ...changes } };
}

type Binding = ClusterRoleBinding | RoleBinding;
const isBinding = (object: ClusterRole | Role | Binding): object is Binding => 'roleRef' in object;

const sameRole = ({ roleRef: a }: Binding, { roleRef: b }: Binding): boolean =>
  a.kind === b.kind && a.name === b.name && a.apiGroup === b.apiGroup;

/** Returns the missing labels and annotations; existing ones keep their values. */
function metadataChanges(existing: ApiObject, expected: ApiObject): Partial<Pick<ApiObject, 'metadata'>> {
  const { labels = {}, annotations = {} } = existing.metadata;
  const missing = (present: Readonly<Record<string, string>>, want: Readonly<Record<string, string>> | undefined) =>
    Object.keys(want ?? {}).some((key) => !Object.hasOwn(present, key));
  if (!missing(labels, expected.metadata.labels) && !missing(annotations, expected.metadata.annotations)) return {};
  return {
    metadata: {
      ...existing.metadata,
      labels: { ...expected.metadata.labels, ...labels },
      annotations: { ...expected.metadata.annotations, ...annotations },
    },
  };
}

function contentChanges(existing: ClusterRole | Role | Binding, expected: ClusterRole | Role | Binding): object {
  if (isBinding(existing) || isBinding(expected)) return isBinding(expected) ? subjectChanges(existing, expected) : {};
  return { ...ruleChanges(existing.rules ?? [], expected.rules ?? []), ...selectorChanges(existing, expected) };
}

function ruleChanges(existing: readonly PolicyRule[], expected: readonly PolicyRule[]): { rules?: PolicyRule[] } {
  const missing = uncoveredRules(existing, expected);
  return missing.length === 0 ? {} : { rules: [...existing, ...compactRules(missing)] };
}

function selectorChanges(existing: ClusterRole, expected: ClusterRole): Pick<ClusterRole, 'aggregationRule'> | object {
  const existingSelectors = existing.aggregationRule?.clusterRoleSelectors ?? [];
  const known = new Set(existingSelectors.map((selector) => JSON.stringify(selector)));
  const missing = (expected.aggregationRule?.clusterRoleSelectors ?? []).filter(
    (selector) => !known.has(JSON.stringify(selector)),
  );
  return missing.length === 0 ? {} : { aggregationRule: { clusterRoleSelectors: [...existingSelectors, ...missing] } };
}

const subjectKey = ({ kind, apiGroup = '', namespace = '', name }: Subject): string =>
  JSON.stringify([kind, apiGroup, namespace, name]);

function subjectChanges(existing: ApiObject, expected: Binding): { subjects?: Subject[] } {
  const existingSubjects = isBinding(existing) ? (existing.subjects ?? []) : [];
  const known = new Set(existingSubjects.map(subjectKey));
  const missing = (expected.subjects ?? []).filter((subject) => !known.has(subjectKey(subject)));
  return missing.length === 0 ? {} : { subjects: [...existingSubjects, ...missing] };
}
