import type { ClusterRole, PolicyRule, Role } from '../api/kinds/role.js';
import { ClusterRoles, Roles } from '../api/kinds/role.js';
import type { ClusterRoleBinding, RoleBinding, RoleRef, Subject } from '../api/kinds/role-binding.js';
import { ClusterRoleBindings, RoleBindings } from '../api/kinds/role-binding.js';
import type { ApiObject } from '../api/object.js';
import { serviceAccountUsername, type UserInfo } from '../api/user.js';
import type { ObjectSource } from './object-source.js';

/** Finds what a user was granted without looking at what others were. */
export interface RoleIndex {
  /** Bindings that name the user or one of the groups: cluster-wide ones first, then those of the namespace. */
  grantsTo(user: UserInfo, namespace: string): readonly Grant[];
  /** Rules of a referenced role; a Role is looked for in the namespace. */
  rulesOf(roleRef: RoleRef, namespace: string): RoleRules;
}

/** A binding, and the first of its subjects that is the user. */
export interface Grant {
  readonly binding: ClusterRoleBinding | RoleBinding;
  readonly subject: Subject;
  /** Of the binding; empty for a cluster-wide one. */
  readonly namespace: string;
}

/** What a roleRef leads to. */
export type RoleRules =
  | { readonly rules: readonly PolicyRule[] }
  /** There is no such role, or what is referred to is no role at all. */
  | { readonly missing: 'role' | 'kind' };

/** The index as of the latest write. Its parts are kept until an object of their type changes. */
export function roleIndexes(objects: ObjectSource): () => Promise<RoleIndex> {
  const clusterRoles = kept(indexByName<ClusterRole>);
  const roles = kept(indexByName<Role>);
  const clusterWide = kept((bindings: readonly ClusterRoleBinding[]) => indexBindings(bindings, () => ''));
  const namespaced = kept(indexByNamespace);
  return async () => {
    const [allClusterRoles, allRoles, allClusterBindings, allBindings] = await Promise.all([
      objects.list(ClusterRoles),
      objects.list(Roles),
      objects.list(ClusterRoleBindings),
      objects.list(RoleBindings),
    ]);
    const everywhere = clusterWide(allClusterBindings);
    const within = namespaced(allBindings);
    return {
      grantsTo(user, namespace) {
        const local = namespace === '' ? undefined : within.get(namespace);
        const first = grantsIn(everywhere, user);
        return local === undefined ? first : [...first, ...grantsIn(local, user)];
      },
      rulesOf({ kind, name }, namespace) {
        if (kind === 'ClusterRole') return rulesIn(clusterRoles(allClusterRoles).get(keyIn('', name)));
        if (kind === 'Role') return rulesIn(roles(allRoles).get(keyIn(namespace, name)));
        return { missing: 'kind' };
      },
    };
  };
}

const rulesIn = (role: Role | undefined): RoleRules =>
  role === undefined ? { missing: 'role' } : { rules: role.rules ?? [] };
const keyIn = (namespace: string, name: string): string => `${namespace}/${name}`;

/** Remembers the last answer for as long as it is asked about the same array. */
function kept<A, B>(make: (of: readonly A[]) => B): (of: readonly A[]) => B {
  let last: { readonly of: readonly A[]; readonly made: B } | undefined;
  return (of) => {
    if (last?.of !== of) last = { of, made: make(of) };
    return last.made;
  };
}

const indexByName = <T extends ApiObject>(list: readonly T[]): ReadonlyMap<string, T> =>
  new Map(list.map((object) => [keyIn(object.metadata.namespace ?? '', object.metadata.name ?? ''), object]));

interface Placed extends Grant {
  /** Of the binding in the list, and of the subject in the binding. */
  readonly at: number;
  readonly subjectAt: number;
}
interface BindingIndex {
  readonly byUser: ReadonlyMap<string, readonly Placed[]>;
  readonly byGroup: ReadonlyMap<string, readonly Placed[]>;
}

function indexByNamespace(bindings: readonly RoleBinding[]): ReadonlyMap<string, BindingIndex> {
  const parts = new Map<string, RoleBinding[]>();
  for (const binding of bindings) {
    const namespace = binding.metadata.namespace ?? '';
    const part = parts.get(namespace);
    if (part === undefined) parts.set(namespace, [binding]);
    else part.push(binding);
  }
  return new Map([...parts].map(([namespace, part]) => [namespace, indexBindings(part, () => namespace)]));
}

function indexBindings<B extends ClusterRoleBinding | RoleBinding>(
  bindings: readonly B[],
  namespaceOf: (binding: B) => string,
): BindingIndex {
  const byUser = new Map<string, Placed[]>();
  const byGroup = new Map<string, Placed[]>();
  const add = (to: Map<string, Placed[]>, key: string, placed: Placed): void => {
    const there = to.get(key);
    if (there === undefined) to.set(key, [placed]);
    else there.push(placed);
  };
  for (const [at, binding] of bindings.entries()) {
    const namespace = namespaceOf(binding);
    for (const [subjectAt, subject] of (binding.subjects ?? []).entries()) {
      const placed = { binding, subject, namespace, at, subjectAt };
      if (subject.kind === 'User') add(byUser, subject.name, placed);
      else if (subject.kind === 'Group') add(byGroup, subject.name, placed);
      else if (subject.kind === 'ServiceAccount') {
        const home = subject.namespace || namespace;
        if (home !== '') add(byUser, serviceAccountUsername(home, subject.name), placed);
      }
    }
  }
  return { byUser, byGroup };
}

const byPlace = (a: Placed, b: Placed): number => a.at - b.at || a.subjectAt - b.subjectAt;

function grantsIn({ byUser, byGroup }: BindingIndex, { username, groups }: UserInfo): readonly Placed[] {
  const found = [...(byUser.get(username) ?? [])];
  for (const group of groups) {
    const more = byGroup.get(group);
    if (more !== undefined) for (const placed of more) found.push(placed);
  }
  if (found.length < 2) return found;
  found.sort(byPlace);
  return found.filter((placed, i) => placed.at !== found[i - 1]?.at);
}
