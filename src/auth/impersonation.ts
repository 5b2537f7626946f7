import type { Domains } from '../api/domains.js';
import type { ApiError } from '../api/errors.js';
import { aggregate, quote } from '../api/go-text.js';
import { nodeOf, serviceAccountGroups, serviceAccountOf, type UserInfo, wellKnown } from '../api/user.js';
import { BoundedMap } from '../runtime/bounded-map.js';
import type { Credentials } from './authenticator.js';
import type { AccessAttributes, Authorizer } from './authorizer.js';
import { credentialExtra } from './credential-extra.js';
import { accessDenied } from './denial.js';
import { checkExtraKey } from './extra-key.js';
import { readWantedUser, type WantedUser } from './impersonation-headers.js';

/** A user that the caller may impersonate for this request. */
export interface Impersonated {
  readonly user: UserInfo;
  /** The verb that allowed the impersonation; absent if it was the general one (`impersonate`). */
  readonly constraint?: string;
}

interface Mode {
  /**
   * The name of the mode, as part of the verbs that it checks; absent for the original mode, whose only verb is
   * `impersonate`.
   */
  readonly name?: string;
  applies(target: WantedUser, caller: UserInfo, domains: Domains): boolean;
}

const onlyUsername = ({ uid, groups, extra }: WantedUser): boolean =>
  uid === '' && groups.length === 0 && Object.keys(extra).length === 0;

/**
 * The modes of impersonation, in the order in which they are tried (KEP-5284). All except the last one require two
 * permissions: to impersonate that user, and to perform the requested action while impersonating such a user.
 */
const modes: readonly Mode[] = [
  {
    name: 'associated-node',
    applies: (target, caller, domains) => {
      const node = nodeOf(target.username);
      const [own, ...others] = caller.extra?.[credentialExtra(domains).nodeName] ?? [];
      const isAccount = serviceAccountOf(caller.username) !== undefined;
      return onlyUsername(target) && node !== undefined && isAccount && own === node && others.length === 0;
    },
  },
  { name: 'arbitrary-node', applies: (target) => onlyUsername(target) && nodeOf(target.username) !== undefined },
  {
    name: 'serviceaccount',
    applies: (target) => onlyUsername(target) && serviceAccountOf(target.username) !== undefined,
  },
  {
    name: 'user-info',
    applies: ({ username }) => nodeOf(username) === undefined && serviceAccountOf(username) === undefined,
  },
  { applies: () => true },
];

/** The number of values from which on the permission for all values is checked first. */
const many = 4;
const rememberedCallers = 10_000;

/**
 * Decides whether a caller may impersonate another user. For each caller, the mode that succeeded last is tried first
 * next time, so that callers with the general permission still get its refusals.
 */
export class Impersonation {
  readonly #authorizer: Authorizer;
  readonly #domains: Domains;
  readonly #modes: readonly Mode[];
  readonly #lastMode = new BoundedMap<string, Mode>(rememberedCallers);

  /** With `constrained: false`, only the general mode is used. */
  constructor(options: { readonly authorizer: Authorizer; readonly domains: Domains; readonly constrained?: boolean }) {
    this.#authorizer = options.authorizer;
    this.#domains = options.domains;
    this.#modes = (options.constrained ?? true) ? modes : modes.filter(({ name }) => name === undefined);
  }

  /**
   * Returns the user as whom the request is made; undefined if the headers request none. `request` is the access that
   * the caller requests, with the caller as its user. Throws BadRequest for headers without a username, and Forbidden
   * if no mode allows the impersonation.
   */
  async impersonate(
    headers: Pick<Credentials, 'header' | 'headerNames'>,
    request: AccessAttributes,
  ): Promise<Impersonated | undefined> {
    const target = readWantedUser(headers);
    if (target === undefined) return undefined;
    const caller = request.user;
    let first: ApiError | undefined;
    for (const mode of this.#inOrderFor(caller)) {
      if (!mode.applies(target, caller, this.#domains)) continue;
      const refusal = await this.#refusalBy(mode, target, request);
      if (refusal === undefined) {
        this.#lastMode.set(caller.username, mode);
        return impersonatedAs(target, mode);
      }
      first ??= refusal;
    }
    throw first ?? new Error('no mode of impersonation applies');
  }

  #inOrderFor({ username }: UserInfo): readonly Mode[] {
    const last = this.#lastMode.get(username);
    return last === undefined ? this.#modes : [last, ...this.#modes.filter((mode) => mode !== last)];
  }

  async #refusalBy(mode: Mode, target: WantedUser, request: AccessAttributes): Promise<ApiError | undefined> {
    const caller = mode.name === 'associated-node' ? withoutOwnExtra(request.user, this.#domains) : request.user;
    if (mode.name !== undefined) {
      const verb = `impersonate-on:${mode.name}:${request.verb}`;
      const refusal = await this.#refusal({ ...request, user: caller, verb });
      if (refusal !== undefined) return refusal;
    }
    const group = `authentication.${this.#domains.api}`;
    for (const step of checksFor(mode, target, group)) {
      const attributes = { user: caller, version: 'v1', verb: verbOf(mode), ...step.access };
      if (step.refused !== undefined) return accessDenied(attributes, step.refused);
      if (step.shortcut !== undefined) {
        const groupRefusal = await this.#refusal({ ...attributes, ...step.shortcut });
        if (groupRefusal === undefined) continue;
      }
      for (const each of step.each) {
        const refusal = await this.#refusal({ ...attributes, ...each });
        if (refusal !== undefined) return refusal;
      }
    }
    return undefined;
  }

  async #refusal(attributes: AccessAttributes): Promise<ApiError | undefined> {
    const { verdict, reason, error } = await this.#authorizer.authorize(attributes);
    if (verdict === 'allow') return undefined;
    const message = [error ?? '', reason].filter((text) => text !== '').join(': ');
    return accessDenied(attributes, message);
  }
}

const verbOf = ({ name }: Mode): string => (name === undefined ? 'impersonate' : `impersonate:${name}`);

/**
 * Returns the user without the values of its extra, of which only the keys are left. In the mode associated-node, any
 * service account that is bound to its node may impersonate that node, so the permission must not depend on which node
 * it is.
 */
const withoutOwnExtra = (user: UserInfo, { signer }: Domains): UserInfo => ({
  ...user,
  extra: { [`authentication.${signer}/associated-node-keys`]: Object.keys(user.extra ?? {}).sort() },
});

/** One attribute of the requested user, with the permissions that it requires, one for each value. */
interface Check {
  readonly access: { readonly group: string; readonly resource: string; readonly name?: string };
  readonly each: readonly Partial<Pick<AccessAttributes, 'name' | 'namespace' | 'subresource'>>[];
  /** The permission for all values, which is checked first if there are many values. */
  readonly shortcut?: Partial<Pick<AccessAttributes, 'name' | 'subresource'>> | undefined;
  /** The reason for which the impersonation is refused regardless of permissions. */
  readonly refused?: string | undefined;
}

/** Returns the checks in their order: user, uid, groups, extra. */
function checksFor(mode: Mode, target: WantedUser, authentication: string): readonly Check[] {
  const isConstrained = mode.name !== undefined;
  const group = isConstrained ? authentication : '';
  const { uid, groups, extra } = target;
  const pairs = Object.entries(extra).flatMap(([subresource, values]) => values.map((name) => ({ subresource, name })));
  return [
    usernameCheck(mode, target, group),
    ...(uid === '' ? [] : [{ access: { group: authentication, resource: 'uids' }, each: [{ name: uid }] }]),
    ...(groups.length === 0
      ? []
      : [
          {
            ...(isConstrained ? refusedGroups(groups, group) : { access: { group, resource: 'groups' } }),
            each: groups.map((name) => ({ name })),
            shortcut: isConstrained && groups.length >= many ? { name: '*' } : undefined,
          },
        ]),
    ...(Object.keys(extra).length === 0
      ? []
      : [
          {
            access: { group: authentication, resource: 'userextras' },
            each: pairs,
            shortcut: isConstrained && pairs.length >= many ? { subresource: '*', name: '*' } : undefined,
            refused: isConstrained ? extraProblem(extra) : undefined,
          },
        ]),
  ];
}

function usernameCheck(mode: Mode, { username }: WantedUser, group: string): Check {
  const account = serviceAccountOf(username);
  if (account !== undefined) return { access: { group, resource: 'serviceaccounts' }, each: [account] };
  const node = mode.name === undefined ? undefined : nodeOf(username);
  if (node === undefined) return { access: { group, resource: 'users' }, each: [{ name: username }] };
  return { access: { group, resource: 'nodes' }, each: [{ name: mode.name === 'associated-node' ? '*' : node }] };
}

function refusedGroups(groups: readonly string[], group: string): Pick<Check, 'access' | 'refused'> {
  const access = { group, resource: 'groups' };
  if (groups.includes('')) return { access, refused: 'impersonating the empty string group is not allowed' };
  if (!groups.includes(wellKnown.masters)) return { access };
  return {
    access: { ...access, name: wellKnown.masters },
    refused: `impersonating the ${wellKnown.masters} group is not allowed`,
  };
}

function extraProblem(extra: WantedUser['extra']): string | undefined {
  for (const [key, values] of Object.entries(extra)) {
    if (key === '') return 'impersonating the empty string key in extra is not allowed';
    const wrong = checkExtraKey('extra.key', key).map(({ field, body }) => `${field}: ${body}`);
    if (wrong.length > 0) return `impersonating an invalid key in extra is not allowed: ${aggregate(wrong)}`;
    if (key !== key.toLowerCase()) return `impersonating a non-lowercase key in extra is not allowed: ${quote(key)}`;
    if (values.length === 0) return 'impersonating empty values in extra is not allowed';
    if (values.includes('')) return 'impersonating the empty string value in extra is not allowed';
  }
  return undefined;
}

/** Returns the impersonated user with the implied groups, as the rest of the request sees it. */
function impersonatedAs(target: WantedUser, mode: Mode): Impersonated {
  const { username, uid, extra } = target;
  const groups = groupsOf(target, mode);
  const general = username === wellKnown.anonymous ? wellKnown.unauthenticated : wellKnown.authenticated;
  const isSaid = groups.includes(general) || groups.includes(wellKnown.unauthenticated);
  return {
    user: {
      username,
      ...(uid === '' ? {} : { uid }),
      groups: isSaid ? groups : [...groups, general],
      ...(Object.keys(extra).length > 0 ? { extra } : {}),
    },
    ...(mode.name === undefined ? {} : { constraint: verbOf(mode) }),
  };
}

function groupsOf({ username, groups }: WantedUser, { name }: Mode): readonly string[] {
  if (groups.length > 0) return groups;
  const account = serviceAccountOf(username);
  if (account !== undefined) return serviceAccountGroups(account.namespace);
  return name !== undefined && nodeOf(username) !== undefined ? [wellKnown.nodes] : [];
}
