import type { ClusterRole, PolicyRule, Role } from '../api/kinds/role.js';
import { ClusterRoles, Roles } from '../api/kinds/role.js';
import type { ClusterRoleBinding, RoleBinding, RoleRef, Subject } from '../api/kinds/role-binding.js';
import { ClusterRoleBindings, RoleBindings } from '../api/kinds/role-binding.js';
import type { ApiObject } from '../api/object.js';
import { serviceAccountUsername, type UserInfo } from '../api/user.js';
import { followed, type Index } from './followed.js';
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

/** The index as of the latest write. What one write changes is all that is indexed anew. */
export function roleIndexes(objects: ObjectSource): () => Promise<RoleIndex> {
  const clusterRoles = followed(new RolesByName<ClusterRole>());
  const roles = followed(new RolesByName<Role>());
  const clusterWide = followed(new GrantsBySubject<ClusterRoleBinding>());
  const namespaced = followed(new GrantsBySubject<RoleBinding>());
  return async () => {
    const [allClusterRoles, allRoles, allClusterBindings, allBindings] = await Promise.all([
      objects.list(ClusterRoles),
      objects.list(Roles),
      objects.list(ClusterRoleBindings),
      objects.list(RoleBindings),
    ]);
    return {
      grantsTo(user, namespace) {
        const first = clusterWide(allClusterBindings).grantsTo(user, '');
        return namespace === '' ? first : [...first, ...namespaced(allBindings).grantsTo(user, namespace)];
      },
      rulesOf({ kind, name }, namespace) {
        if (kind === 'ClusterRole') return rulesIn(clusterRoles(allClusterRoles).get('', name));
        if (kind === 'Role') return rulesIn(roles(allRoles).get(namespace, name));
        return { missing: 'kind' };
      },
    };
  };
}

const rulesIn = (role: Role | undefined): RoleRules =>
  role === undefined ? { missing: 'role' } : { rules: role.rules ?? [] };
const keyIn = (namespace: string, name: string): string => `${namespace}/${name}`;

class RolesByName<T extends Role> implements Index<T> {
  readonly #roles = new Map<string, T>();

  get = (namespace: string, name: string): T | undefined => this.#roles.get(keyIn(namespace, name));

  add(role: T): void {
    this.#roles.set(keyOfObject(role), role);
  }

  remove(role: T): void {
    this.#roles.delete(keyOfObject(role));
  }
}
const keyOfObject = ({ metadata: { namespace = '', name = '' } }: ApiObject): string => keyIn(namespace, name);

interface Placed extends Grant {
  /** Of the binding among those of its namespace. */
  readonly name: string;
  /** Of the subject in the binding. */
  readonly at: number;
}

class GrantsBySubject<B extends ClusterRoleBinding | RoleBinding> implements Index<B> {
  /** By namespace of the binding, then by subject. */
  readonly #grants = new Map<string, Map<string, Set<Placed>>>();

  grantsTo({ username, groups }: UserInfo, namespace: string): readonly Placed[] {
    const local = this.#grants.get(namespace);
    if (local === undefined) return [];
    const found = [...(local.get(userKey(username)) ?? [])];
    for (const group of groups) for (const placed of local.get(groupKey(group)) ?? []) found.push(placed);
    if (found.length < 2) return found;
    found.sort(byPlace);
    return found.filter(({ name }, i) => name !== found[i - 1]?.name);
  }

  add(binding: B): void {
    const { name = '', namespace = '' } = binding.metadata;
    const local = this.#grants.get(namespace) ?? new Map<string, Set<Placed>>();
    this.#grants.set(namespace, local);
    for (const [at, subject] of (binding.subjects ?? []).entries()) {
      const key = keyOfSubject(subject, namespace);
      if (key === undefined) continue;
      const there = local.get(key) ?? new Set();
      local.set(key, there.add({ binding, subject, namespace, name, at }));
    }
  }

  remove(binding: B): void {
    const { namespace = '' } = binding.metadata;
    const local = this.#grants.get(namespace);
    if (local === undefined) return;
    for (const key of new Set((binding.subjects ?? []).map((subject) => keyOfSubject(subject, namespace) ?? ''))) {
      const there = local.get(key);
      for (const placed of there ?? []) if (placed.binding === binding) there?.delete(placed);
      if (there?.size === 0) local.delete(key);
    }
    if (local.size === 0) this.#grants.delete(namespace);
  }
}

const userKey = (username: string): string => `user:${username}`;
const groupKey = (group: string): string => `group:${group}`;

/** Whom a subject of a binding in this namespace is found by; undefined if it is nobody. */
function keyOfSubject({ kind, name, namespace }: Subject, ofBinding: string): string | undefined {
  if (kind === 'User') return userKey(name);
  if (kind === 'Group') return groupKey(name);
  const home = namespace || ofBinding;
  return kind === 'ServiceAccount' && home !== '' ? userKey(serviceAccountUsername(home, name)) : undefined;
}

const byPlace = (a: Placed, b: Placed): number => (a.name === b.name ? a.at - b.at : a.name < b.name ? -1 : 1);
