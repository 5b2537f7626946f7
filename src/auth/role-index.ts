import type { ClusterRole, PolicyRule, Role } from '../api/kinds/role.js';
import { ClusterRoles, Roles } from '../api/kinds/role.js';
import type { ClusterRoleBinding, RoleBinding, RoleRef, Subject } from '../api/kinds/role-binding.js';
import { ClusterRoleBindings, RoleBindings } from '../api/kinds/role-binding.js';
import type { ApiObject } from '../api/object.js';
import { serviceAccountUsername, type UserInfo } from '../api/user.js';
import { type Index, incrementalIndex } from './incremental-index.js';
import type { ObjectSource } from './object-source.js';

/** Finds the grants of a user without scanning those of others. */
export interface RoleIndex {
  /**
   * Returns the bindings that name the user or one of the groups: cluster-wide ones first, then those in the namespace.
   */
  grantsTo(user: UserInfo, namespace: string): readonly Grant[];
  /** Returns the rules of a referenced role. A Role is looked up in the namespace. */
  rulesOf(roleRef: RoleRef, namespace: string): RoleRules;
}

/** A binding, and the first of its subjects that matches the user. */
export interface Grant {
  readonly binding: ClusterRoleBinding | RoleBinding;
  readonly subject: Subject;
  /** The namespace of the binding; empty for a cluster-wide one. */
  readonly namespace: string;
}

/** The rules of the role that a roleRef refers to. */
export type RoleRules =
  | { readonly rules: readonly PolicyRule[] }
  /** There is no such role, or the reference is to a kind that is no role. */
  | { readonly missing: 'role' | 'kind' };

/**
 * Returns the index as of the latest write. Each write only re-indexes what it changed. Synchronous once the roles have
 * been read.
 */
export function roleIndexes(objects: ObjectSource): () => RoleIndex | Promise<RoleIndex> {
  const index = new FollowedRoles();
  return () => {
    const clusterRoles = objects.list(ClusterRoles);
    const roles = objects.list(Roles);
    const clusterWide = objects.list(ClusterRoleBindings);
    const namespaced = objects.list(RoleBindings);
    return isReady(clusterRoles) && isReady(roles) && isReady(clusterWide) && isReady(namespaced)
      ? index.asOf(clusterRoles, roles, clusterWide, namespaced)
      : Promise.all([clusterRoles, roles, clusterWide, namespaced]).then((read) => index.asOf(...read));
  };
}

const isReady = <T>(list: readonly T[] | Promise<readonly T[]>): list is readonly T[] => Array.isArray(list);

class FollowedRoles implements RoleIndex {
  readonly #clusterRoles = new RolesByName<ClusterRole>();
  readonly #roles = new RolesByName<Role>();
  readonly #clusterWide = new GrantsBySubject<ClusterRoleBinding>();
  readonly #namespaced = new GrantsBySubject<RoleBinding>();
  readonly #follow = {
    clusterRoles: incrementalIndex(this.#clusterRoles),
    roles: incrementalIndex(this.#roles),
    clusterWide: incrementalIndex(this.#clusterWide),
    namespaced: incrementalIndex(this.#namespaced),
  };

  asOf(
    clusterRoles: readonly ClusterRole[],
    roles: readonly Role[],
    clusterWide: readonly ClusterRoleBinding[],
    namespaced: readonly RoleBinding[],
  ): this {
    this.#follow.clusterRoles(clusterRoles);
    this.#follow.roles(roles);
    this.#follow.clusterWide(clusterWide);
    this.#follow.namespaced(namespaced);
    return this;
  }

  grantsTo(user: UserInfo, namespace: string): readonly Grant[] {
    const everywhere = this.#clusterWide.grantsTo(user, '');
    if (namespace === '') return everywhere;
    const inNamespace = this.#namespaced.grantsTo(user, namespace);
    return inNamespace.length === 0 ? everywhere : [...everywhere, ...inNamespace];
  }

  rulesOf({ kind, name }: RoleRef, namespace: string): RoleRules {
    if (kind === 'ClusterRole') return rulesIn(this.#clusterRoles.get('', name));
    if (kind === 'Role') return rulesIn(this.#roles.get(namespace, name));
    return { missing: 'kind' };
  }
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

interface IndexedGrant extends Grant {
  /** The name of the binding, unique in its namespace. */
  readonly name: string;
  /** The index of the subject in the binding. */
  readonly at: number;
}

class GrantsBySubject<B extends ClusterRoleBinding | RoleBinding> implements Index<B> {
  /** Grants by namespace of the binding, then by subject. */
  readonly #grants = new Map<string, Map<string, Set<IndexedGrant>>>();
  /** Cached answers by user and namespace, until something changes. */
  #cache = new WeakMap<UserInfo, Map<string, readonly IndexedGrant[]>>();

  grantsTo(user: UserInfo, namespace: string): readonly IndexedGrant[] {
    const local = this.#grants.get(namespace);
    if (local === undefined) return none;
    const cached = this.#cache.get(user) ?? new Map<string, readonly IndexedGrant[]>();
    this.#cache.set(user, cached);
    const before = cached.get(namespace);
    if (before !== undefined) return before;
    const found = this.#find(local, user);
    cached.set(namespace, found);
    return found;
  }

  #find(
    local: ReadonlyMap<string, ReadonlySet<IndexedGrant>>,
    { username, groups }: UserInfo,
  ): readonly IndexedGrant[] {
    const found = [...(local.get(userKey(username)) ?? [])];
    // A review may repeat a group as often as its body has space for.
    for (const group of new Set(groups)) for (const placed of local.get(groupKey(group)) ?? []) found.push(placed);
    if (found.length < 2) return found;
    found.sort(byPlace);
    return found.filter(({ name }, i) => name !== found[i - 1]?.name);
  }

  add(binding: B): void {
    this.#cache = new WeakMap();
    const { name = '', namespace = '' } = binding.metadata;
    const local = this.#grants.get(namespace) ?? new Map<string, Set<IndexedGrant>>();
    this.#grants.set(namespace, local);
    for (const [at, subject] of (binding.subjects ?? []).entries()) {
      const key = keyOfSubject(subject, namespace);
      if (key === undefined) continue;
      const grants = local.get(key) ?? new Set();
      local.set(key, grants.add({ binding, subject, namespace, name, at }));
    }
  }

  remove(binding: B): void {
    this.#cache = new WeakMap();
    const { namespace = '' } = binding.metadata;
    const local = this.#grants.get(namespace);
    if (local === undefined) return;
    for (const key of new Set((binding.subjects ?? []).map((subject) => keyOfSubject(subject, namespace) ?? ''))) {
      const grants = local.get(key);
      for (const placed of grants ?? []) if (placed.binding === binding) grants?.delete(placed);
      if (grants?.size === 0) local.delete(key);
    }
    if (local.size === 0) this.#grants.delete(namespace);
  }
}

const none: readonly never[] = [];

const userKey = (username: string): string => `user:${username}`;
const groupKey = (group: string): string => `group:${group}`;

/** Returns the index key of a subject of a binding in this namespace; undefined if it matches nobody. */
function keyOfSubject({ kind, name, namespace }: Subject, ofBinding: string): string | undefined {
  if (kind === 'User') return userKey(name);
  if (kind === 'Group') return groupKey(name);
  const home = namespace || ofBinding;
  return kind === 'ServiceAccount' && home !== '' ? userKey(serviceAccountUsername(home, name)) : undefined;
}

const byPlace = (a: IndexedGrant, b: IndexedGrant): number =>
  a.name === b.name ? a.at - b.at : a.name < b.name ? -1 : 1;
