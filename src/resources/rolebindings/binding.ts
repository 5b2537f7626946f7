import type { RoleRef, Subject } from '../../api/kinds/role-binding.js';
import { dnsSubdomain, pathSegment } from '../../api/names.js';
import type { ApiObject } from '../../api/object.js';
import {
  child,
  eachInvalid,
  index,
  invalid,
  notSupported,
  required,
  type Violation,
  validateEach,
} from '../../api/violations.js';
import type { Column } from '../../registry/resource-definition.js';
import { field, list, string, structsOf } from '../../schema/builder.js';
import { age, column } from '../columns.js';

const struct = structsOf('io.k8s.api.rbac.v1');

/** Members that RoleBindings and ClusterRoleBindings share. */
export interface Binding extends ApiObject {
  readonly subjects?: readonly Subject[];
  readonly roleRef: RoleRef;
}

export const subjects = list(
  struct(
    'Subject',
    {
      kind: field(1, string(), {
        presence: 'always',
        description: 'Kind of the subject: User, Group or ServiceAccount.',
      }),
      apiGroup: field(2, string(), { description: "API group of the subject's kind; empty for ServiceAccount." }),
      name: field(3, string(), { presence: 'always', description: 'Name of the subject.' }),
      namespace: field(4, string(), { description: 'Namespace of the subject; only for ServiceAccount.' }),
    },
    {
      required: ['kind', 'name'],
      mapType: 'atomic',
      description: 'User, group or service account that a role is granted to.',
    },
  ),
  { listType: 'atomic' },
);

export const roleRef = struct(
  'RoleRef',
  {
    apiGroup: field(1, string(), { presence: 'always', description: 'API group of the role.' }),
    kind: field(2, string(), { presence: 'always', description: 'Kind of the role: Role or ClusterRole.' }),
    name: field(3, string(), { presence: 'always', description: 'Name of the role.' }),
  },
  {
    required: ['kind', 'name'],
    mapType: 'atomic',
    description: 'Reference to the role that is granted.',
  },
);

const ofRbac: readonly string[] = ['User', 'Group'];

/** Sets the default groups: roles, Users and Groups belong to the RBAC group. */
export const withGroups = <T extends Binding>(binding: T, group: string): T => ({
  ...binding,
  roleRef: { ...binding.roleRef, apiGroup: binding.roleRef?.apiGroup || group },
  ...(binding.subjects === undefined
    ? {}
    : {
        subjects: binding.subjects.map((subject) =>
          subject.apiGroup || !ofRbac.includes(subject.kind) ? subject : { ...subject, apiGroup: group },
        ),
      }),
});

/** Validates a binding; `roles` are the kinds that it may refer to. */
export function validateBinding(
  next: Binding,
  scope: { readonly namespaced: boolean; readonly roles: readonly string[]; readonly group: string },
): readonly Violation[] {
  return [
    ...validateRoleRef(next.roleRef, scope),
    ...validateEach(next.subjects ?? [], (subject, at) => validateSubject(subject, scope, index('subjects', at))),
  ];
}

/** Checks that a binding keeps its role. */
export const validateBindingChange = ({ roleRef }: Binding, previous: Binding): readonly Violation[] =>
  sameRef(roleRef, previous.roleRef) ? [] : [invalid('roleRef', internalForm(roleRef), 'cannot change roleRef')];

function validateRoleRef(
  { apiGroup, kind, name }: RoleRef,
  { roles, group }: { readonly roles: readonly string[]; readonly group: string },
): readonly Violation[] {
  return [
    ...(apiGroup === group ? [] : [notSupported('roleRef.apiGroup', apiGroup ?? '', [group])]),
    ...(roles.includes(kind) ? [] : [notSupported('roleRef.kind', kind ?? '', roles)]),
    ...(name ? eachInvalid('roleRef.name', name, pathSegment(name)) : [required('roleRef.name')]),
  ];
}

function validateSubject(
  subject: Subject,
  { namespaced, group: ofRoles }: { readonly namespaced: boolean; readonly group: string },
  path: string,
): readonly Violation[] {
  const { kind = '', apiGroup = '', name, namespace } = subject;
  const groupIs = (group: string): readonly Violation[] =>
    apiGroup === group ? [] : [notSupported(child(path, 'apiGroup'), apiGroup, [group])];
  const unnamed = name ? [] : [required(child(path, 'name'))];
  switch (kind) {
    case 'ServiceAccount':
      return [
        ...unnamed,
        ...(name ? eachInvalid(child(path, 'name'), name, dnsSubdomain(name)) : []),
        ...groupIs(''),
        ...(namespaced || namespace ? [] : [required(child(path, 'namespace'))]),
      ];
    case 'User':
    case 'Group':
      return [...unnamed, ...groupIs(ofRoles)];
    default:
      return [...unnamed, notSupported(child(path, 'kind'), kind, ['ServiceAccount', 'User', 'Group'])];
  }
}

const sameRef = (a: RoleRef, b: RoleRef): boolean =>
  a.apiGroup === b.apiGroup && a.kind === b.kind && a.name === b.name;

/** Returns the reference as Go prints the struct, with Go's field names. */
const internalForm = ({ apiGroup, kind, name }: RoleRef): object => ({
  APIGroup: apiGroup ?? '',
  Kind: kind ?? '',
  Name: name ?? '',
});

const named = ({ subjects: all }: Binding, kind: string, text: (subject: Subject) => string): string =>
  (all ?? [])
    .filter((subject) => subject.kind === kind)
    .map(text)
    .join(', ');

/** Returns the columns of a binding; `noun` is what the descriptions call it. */
export const bindingColumns = (options: {
  readonly noun: string;
  readonly roleDescription: string;
}): readonly Column<Binding>[] => [
  column('Role', options.roleDescription, ({ roleRef: ref }: Binding) => `${ref.kind}/${ref.name}`),
  age,
  column('Users', `Users in the ${options.noun}`, (binding) => named(binding, 'User', ({ name }) => name), {
    priority: 1,
  }),
  column('Groups', `Groups in the ${options.noun}`, (binding) => named(binding, 'Group', ({ name }) => name), {
    priority: 1,
  }),
  column(
    'ServiceAccounts',
    `ServiceAccounts in the ${options.noun}`,
    (binding) => named(binding, 'ServiceAccount', ({ namespace, name }) => `${namespace ?? ''}/${name}`),
    { priority: 1 },
  ),
];
