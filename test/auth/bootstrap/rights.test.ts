import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { defaultDomains } from '../../../src/api/domains.js';
import type { PolicyRule } from '../../../src/api/kinds/role.js';
import type { Subject } from '../../../src/api/kinds/role-binding.js';
import { bootstrapPolicy } from '../../../src/auth/bootstrap/policy.js';

interface Named {
  readonly metadata: { readonly name?: string | undefined; readonly namespace?: string | undefined };
}
const nameOf = ({ metadata: { namespace, name } }: Named): string =>
  namespace === undefined ? `${name}` : `${namespace}/${name}`;

/** Returns each subject of a rule separately. */
function subjectsOf({ apiGroups = [], resources = [], resourceNames, nonResourceURLs = [] }: PolicyRule): string[] {
  const named = resourceNames?.map((name) => ` ${name}`) ?? [''];
  const kinds = apiGroups.flatMap((group) => resources.map((resource) => `${group || 'core'} ${resource}`));
  return [...nonResourceURLs, ...kinds.flatMap((kind) => named.map((name) => `${kind}${name}`))];
}

/** Returns a line for each subject of a role, with all permitted verbs. */
function rightsOf(role: Named & { readonly rules?: readonly PolicyRule[] | null }): string[] {
  const verbs = new Map<string, Set<string>>();
  for (const rule of role.rules ?? []) {
    for (const subject of subjectsOf(rule)) {
      verbs.set(subject, new Set([...(verbs.get(subject) ?? []), ...(rule.verbs ?? [])]));
    }
  }
  return [...verbs].map(([subject, may]) => `${nameOf(role)} may ${[...may].sort().join(',')} ${subject}`);
}

const holdersOf = (binding: Named & { roleRef: { name: string }; subjects?: readonly Subject[] }): string[] =>
  (binding.subjects ?? []).map(
    ({ kind, namespace, name }) =>
      `${nameOf(binding)} gives ${binding.roleRef.name} to ${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`,
  );

test('initial rights are those of Kubernetes, with the listed exceptions', () => {
  const { clusterRoles, roles, clusterRoleBindings, roleBindings } = bootstrapPolicy(defaultDomains, {
    signers: ['example.test/ci'],
    podSigners: ['example.test/pods'],
    approves: ['example.test/*'],
    distributes: 'secrets-too',
    objects: [
      { controller: 'ca-rotation', namespace: 'ca', resource: 'secrets', names: ['kept'], keeps: true },
      { controller: 'trust-distributor', namespace: 'trust', resource: 'configmaps', names: ['read'] },
    ],
  });
  const lends = clusterRoles.flatMap((role) =>
    Object.keys(role.metadata.labels ?? {})
      .filter((label) => label.includes('/aggregate-to-'))
      .map((label) => `${nameOf(role)} is labelled ${label}`),
  );
  const rights = [
    ...[...clusterRoles, ...roles].flatMap(rightsOf),
    ...lends,
    ...[...clusterRoleBindings, ...roleBindings].flatMap(holdersOf),
  ].sort();
  const listed = readFileSync(new URL('rights.txt', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.replace(/^\+ /, ''));
  expect(rights).toEqual(listed.sort());
});
