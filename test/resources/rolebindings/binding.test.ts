import { expect, test } from 'vitest';
import { clusterRoleBindingDefinition } from '../../../src/resources/clusterrolebindings/definition.js';
import { roleBindingDefinition } from '../../../src/resources/rolebindings/definition.js';
import { cells, write } from '../write.js';

const group = 'rbac.authorization.k8s.io';
const clusterRoleBindings = clusterRoleBindingDefinition(group);
const roleBindings = roleBindingDefinition(group);
const roleRef = { apiGroup: group, kind: 'ClusterRole', name: 'r' };

test('apiGroup defaults for roles, users and groups, but not for service accounts', () => {
  const subjects = [
    { kind: 'User', name: 'u' },
    { kind: 'Group', name: 'g' },
    { kind: 'ServiceAccount', name: 's' },
  ];
  expect(write(roleBindings, { roleRef: { kind: 'Role', name: 'r' }, subjects }).object).toMatchObject({
    roleRef: { apiGroup: group, kind: 'Role', name: 'r' },
    subjects: [
      { kind: 'User', apiGroup: group, name: 'u' },
      { kind: 'Group', apiGroup: group, name: 'g' },
      { kind: 'ServiceAccount', name: 's' },
    ],
  });
});

test('an empty list of subjects is left out', () => {
  expect(write(roleBindings, { roleRef, subjects: [] }).object).not.toHaveProperty('subjects');
});

const wrongKind = (kind: string, ...supported: readonly string[]): string =>
  `roleRef.kind: Unsupported value: "${kind}": supported values: ${supported.map((name) => `"${name}"`).join(', ')}`;

test.each([
  [roleRef, [], []],
  [{ ...roleRef, kind: 'Role' }, [], [wrongKind('Role', 'ClusterRole')]],
  [
    undefined,
    [wrongKind('', 'Role', 'ClusterRole'), 'roleRef.name: Required value'],
    [wrongKind('', 'ClusterRole'), 'roleRef.name: Required value'],
  ],
  [
    { ...roleRef, apiGroup: 'apps', name: 'a/b' },
    [
      `roleRef.apiGroup: Unsupported value: "apps": supported values: "${group}"`,
      'roleRef.name: Invalid value: "a/b": may not contain \'/\'',
    ],
    [
      `roleRef.apiGroup: Unsupported value: "apps": supported values: "${group}"`,
      'roleRef.name: Invalid value: "a/b": may not contain \'/\'',
    ],
  ],
])('roleRef %j', (ref, inNamespace, inCluster) => {
  expect(write(roleBindings, { roleRef: ref }).violations).toEqual(inNamespace);
  expect(write(clusterRoleBindings, { roleRef: ref }).violations).toEqual(inCluster);
});

test.each([
  [{ kind: 'User', name: 'any text', namespace: 'n' }, []],
  [{ kind: 'User' }, ['name: Required value']],
  [{ kind: 'Group', name: 'g', apiGroup: 'x' }, [`apiGroup: Unsupported value: "x": supported values: "${group}"`]],
  [
    { kind: 'ServiceAccount', name: 's', namespace: 'n', apiGroup: group },
    [`apiGroup: Unsupported value: "${group}": supported values: ""`],
  ],
  [
    { kind: 'Robot' },
    ['name: Required value', 'kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"'],
  ],
  [{ name: 'u' }, ['kind: Unsupported value: "": supported values: "ServiceAccount", "User", "Group"']],
])('subject %j', (subject, texts) => {
  const violations = texts.map((text) => `subjects[0].${text}`);
  expect(write(roleBindings, { roleRef, subjects: [subject] }).violations).toEqual(violations);
  expect(write(clusterRoleBindings, { roleRef, subjects: [subject] }).violations).toEqual(violations);
});

test('a service account needs a valid name, and a namespace in a ClusterRoleBinding', () => {
  const subjects = [{ kind: 'ServiceAccount', name: 's' }];
  expect(write(roleBindings, { roleRef, subjects }).violations).toEqual([]);
  expect(write(clusterRoleBindings, { roleRef, subjects }).violations).toEqual([
    'subjects[0].namespace: Required value',
  ]);
  const [text] = write(roleBindings, { roleRef, subjects: [{ kind: 'ServiceAccount', name: 'Not_Ok' }] }).violations;
  expect(text).toMatch(/^subjects\[0\]\.name: Invalid value: "Not_Ok": a lowercase RFC 1123 subdomain/);
});

test('roleRef is immutable', () => {
  expect(
    write(roleBindings, { roleRef: { kind: 'Role', name: 'r2' } }, { roleRef: { kind: 'Role', name: 'r' } }).violations,
  ).toEqual([`roleRef: Invalid value: {"APIGroup":"${group}","Kind":"Role","Name":"r2"}: cannot change roleRef`]);
});

test('the table shows role and subjects', () => {
  const subjects = [
    { kind: 'User', name: 'u1' },
    { kind: 'ServiceAccount', name: 's', namespace: 'n' },
    { kind: 'User', name: 'u2' },
    { kind: 'Group', name: 'g' },
  ];
  const row = { Role: 'ClusterRole/r', Age: '<unknown>', Users: 'u1, u2', Groups: 'g', ServiceAccounts: 'n/s' };
  expect(cells(roleBindings, { roleRef, subjects })).toEqual(row);
  expect(cells(clusterRoleBindings, { roleRef, subjects })).toEqual(row);
});
