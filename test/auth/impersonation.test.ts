import { beforeEach, describe, expect, test } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import type { UserInfo } from '../../src/api/user.js';
import type { AccessAttributes, Authorizer } from '../../src/auth/authorizer.js';
import { Impersonation } from '../../src/auth/impersonation.js';
import { credentials } from './credentials.js';

const alice: UserInfo = { username: 'alice', groups: ['system:authenticated'] };

/** An authorizer with rights such as `verb resource[/subresource] [name] [@namespace]`, which records its calls. */
class Rights implements Authorizer {
  readonly #allowed: ReadonlySet<string>;
  readonly asked: AccessAttributes[] = [];

  constructor(...allowed: readonly string[]) {
    this.#allowed = new Set(allowed);
  }

  async authorize(attributes: AccessAttributes) {
    this.asked.push(attributes);
    const { verb, group, resource, subresource, name, namespace, path } = attributes;
    const what = path ?? `${group}:${resource}${subresource ? `/${subresource}` : ''}`;
    const text = [verb, what, name, namespace && `@${namespace}`].filter(Boolean).join(' ');
    const anyName = [verb, what, namespace && `@${namespace}`].filter(Boolean).join(' ');
    const allowed = this.#allowed.has('everything') || this.#allowed.has(text) || this.#allowed.has(anyName);
    return { verdict: allowed ? ('allow' as const) : ('no-opinion' as const), reason: '' };
  }
}

const listing = (user: UserInfo = alice): AccessAttributes => ({
  user,
  verb: 'list',
  group: '',
  version: 'v1',
  resource: 'pods',
  namespace: 'ns',
});
const as = (
  impersonation: Impersonation,
  headers: Parameters<typeof credentials>[0],
  request: AccessAttributes = listing(),
) => impersonation.impersonate(credentials(headers), request);
const open = (authorizer: Authorizer, constrained = true) =>
  new Impersonation({ authorizer, domains: defaultDomains, constrained });
const authn = 'authentication.k8s.io';

describe('headers', () => {
  test('that are empty impersonate nobody', async () => {
    expect(await as(open(new Rights()), { 'impersonate-user': '', 'impersonate-uid': '' })).toBeUndefined();
  });

  test.each([
    [
      { 'impersonate-group': 'g' },
      '&user.DefaultInfo{Name:"", UID:"", Groups:[]string{"g"}, Extra:map[string][]string(nil)}',
    ],
    [
      { 'impersonate-uid': 'u' },
      '&user.DefaultInfo{Name:"", UID:"u", Groups:[]string(nil), Extra:map[string][]string(nil)}',
    ],
    [
      { 'impersonate-extra-k': ['v', 'w'], 'impersonate-extra-a': 'b' },
      '&user.DefaultInfo{Name:"", UID:"", Groups:[]string(nil), Extra:map[string][]string{"a":[]string{"b"}, "k":[]string{"v", "w"}}}',
    ],
  ])('%j without a username are a bad request', async (headers, text) => {
    await expect(as(open(new Rights('everything')), headers)).rejects.toMatchObject({
      reason: 'BadRequest',
      message: `requested ${text} without impersonating a user name`,
    });
  });

  test('have decoded keys of extra, and groups are not split', async () => {
    const found = await as(open(new Rights('everything')), {
      'impersonate-user': 'bob',
      'impersonate-group': 'a,b',
      'impersonate-extra-acme.com%2fproject': 'x',
      'impersonate-extra-__proto__': 'y',
      'impersonate-extra-%c3%a4%e4': 'z',
      'impersonate-extra-%c3%a4%zz': 'w',
    });
    expect(found?.user.groups).toEqual(['a,b', 'system:authenticated']);
    expect(Object.entries(found?.user.extra ?? {})).toEqual([
      ['acme.com/project', ['x']],
      ['__proto__', ['y']],
      ['ä\udce4', ['z']],
      ['%c3%a4%zz', ['w']],
    ]);
  });

  test('that are listed once per value count once', async () => {
    const repeated = credentials({ 'impersonate-user': 'bob', 'impersonate-extra-scopes': ['a', 'b'] });
    const headers = { ...repeated, headerNames: () => [...repeated.headerNames(), 'impersonate-extra-scopes'] };
    const found = await open(new Rights('everything')).impersonate(headers, listing());
    expect(found?.user.extra).toEqual({ scopes: ['a', 'b'] });
  });
});

describe('the impersonate verb', () => {
  const legacy = (...rights: string[]) => open(new Rights(...rights), false);

  test.each<[string, Parameters<typeof credentials>[0], string[], string]>([
    [
      'a user',
      { 'impersonate-user': 'bob' },
      [],
      'users "bob" is forbidden: User "alice" cannot impersonate resource "users" in API group "" at the cluster scope',
    ],
    [
      'a service account',
      { 'impersonate-user': 'system:serviceaccount:ns:x' },
      ['impersonate :users'],
      'serviceaccounts "x" is forbidden: User "alice" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "ns"',
    ],
    [
      'a uid',
      { 'impersonate-user': 'bob', 'impersonate-uid': 'u', 'impersonate-group': 'g' },
      ['impersonate :users'],
      `uids.${authn} "u" is forbidden: User "alice" cannot impersonate resource "uids" in API group "${authn}" at the cluster scope`,
    ],
    [
      'a second group',
      { 'impersonate-user': 'bob', 'impersonate-group': ['dev', 'ops'] },
      ['impersonate :users', 'impersonate :groups dev'],
      'groups "ops" is forbidden: User "alice" cannot impersonate resource "groups" in API group "" at the cluster scope',
    ],
    [
      'an extra value',
      { 'impersonate-user': 'bob', 'impersonate-extra-scopes': ['view', 'edit'] },
      ['impersonate :users', `impersonate ${authn}:userextras/scopes view`],
      `userextras.${authn} "edit" is forbidden: User "alice" cannot impersonate resource "userextras/scopes" in API group "${authn}" at the cluster scope`,
    ],
  ])('is required for %s', async (_name, headers, rights, message) => {
    await expect(as(legacy(...rights), headers)).rejects.toMatchObject({ reason: 'Forbidden', message });
  });

  test.each<[Parameters<typeof credentials>[0], readonly string[]]>([
    [{ 'impersonate-user': 'bob' }, ['system:authenticated']],
    [{ 'impersonate-user': 'bob', 'impersonate-group': ['dev', 'dev'] }, ['dev', 'dev', 'system:authenticated']],
    [{ 'impersonate-user': 'bob', 'impersonate-group': 'system:unauthenticated' }, ['system:unauthenticated']],
    [{ 'impersonate-user': 'bob', 'impersonate-group': 'system:authenticated' }, ['system:authenticated']],
    [{ 'impersonate-user': 'system:anonymous' }, ['system:unauthenticated']],
    [
      { 'impersonate-user': 'system:serviceaccount:ns:x' },
      ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
    ],
    [{ 'impersonate-user': 'system:serviceaccount:ns:x', 'impersonate-group': 'g' }, ['g', 'system:authenticated']],
    [{ 'impersonate-user': 'system:serviceaccount:x' }, ['system:authenticated']],
    [{ 'impersonate-user': 'system:node:n' }, ['system:authenticated']],
  ])('with headers %j gives the groups %j', async (headers, groups) => {
    const found = await as(legacy('everything'), headers);
    expect(found?.user.groups).toEqual(groups);
    expect(found?.constraint).toBeUndefined();
  });
});

describe('constrained impersonation', () => {
  const mayList = 'impersonate-on:user-info:list :pods @ns';

  test('requires a right for the user and one for the action, and allows only that action', async () => {
    const rights = new Rights(mayList, `impersonate:user-info ${authn}:users bob`);
    expect(await as(open(rights), { 'impersonate-user': 'bob' })).toEqual({
      user: { username: 'bob', groups: ['system:authenticated'] },
      constraint: 'impersonate:user-info',
    });
    await expect(as(open(rights), { 'impersonate-user': 'bob' }, { ...listing(), verb: 'delete' })).rejects.toThrow(
      'cannot impersonate-on:user-info:delete resource "pods"',
    );
  });

  test.each<[string[], AccessAttributes, string]>([
    [
      [],
      listing(),
      'pods is forbidden: User "alice" cannot impersonate-on:user-info:list resource "pods" in API group "" in the namespace "ns"',
    ],
    [
      [mayList],
      listing(),
      `users.${authn} "bob" is forbidden: User "alice" cannot impersonate:user-info resource "users" in API group "${authn}" at the cluster scope`,
    ],
    [
      [],
      { user: alice, verb: 'get', path: '/version', group: '', version: '', resource: '' },
      'forbidden: User "alice" cannot impersonate-on:user-info:get path "/version"',
    ],
  ])('with the rights %j is refused in the words of the first applicable mode', async (rights, request, message) => {
    await expect(as(open(new Rights(...rights)), { 'impersonate-user': 'bob' }, request)).rejects.toThrow(message);
  });

  test('is refused in the words of the impersonate verb once that verb has worked', async () => {
    const impersonation = open(new Rights('impersonate :users bob'));
    await expect(as(impersonation, { 'impersonate-user': 'carol' })).rejects.toThrow('impersonate-on:user-info');
    expect(await as(impersonation, { 'impersonate-user': 'bob' })).toEqual({
      user: { username: 'bob', groups: ['system:authenticated'] },
    });
    await expect(as(impersonation, { 'impersonate-user': 'carol' })).rejects.toThrow(
      'users "carol" is forbidden: User "alice" cannot impersonate resource "users" in API group "" at the cluster scope',
    );
    const other = listing({ username: 'dave', groups: [] });
    await expect(as(impersonation, { 'impersonate-user': 'carol' }, other)).rejects.toThrow('impersonate-on:user-info');
  });

  const everythingButLegacy: Authorizer = {
    authorize: async ({ verb }) => ({ verdict: verb === 'impersonate' ? 'no-opinion' : 'allow', reason: '' }),
  };

  test.each<[Parameters<typeof credentials>[0], string]>([
    [
      { 'impersonate-group': ['a', 'system:masters'] },
      `groups.${authn} "system:masters" is forbidden: User "alice" cannot impersonate:user-info resource "groups" in API group "${authn}" at the cluster scope: impersonating the system:masters group is not allowed`,
    ],
    [
      { 'impersonate-group': '' },
      `groups.${authn} is forbidden: User "alice" cannot impersonate:user-info resource "groups" in API group "${authn}" at the cluster scope: impersonating the empty string group is not allowed`,
    ],
    [{ 'impersonate-extra-': 'x' }, 'impersonating the empty string key in extra is not allowed'],
    [{ 'impersonate-extra-a.b%2f%41': 'x' }, 'impersonating a non-lowercase key in extra is not allowed: "a.b/A"'],
    [{ 'impersonate-extra-a.b%2fc': ['x', ''] }, 'impersonating the empty string value in extra is not allowed'],
  ])('of %j is always refused', async (headers, message) => {
    await expect(as(open(everythingButLegacy), { 'impersonate-user': 'bob', ...headers })).rejects.toThrow(message);
  });

  test('checks many groups at once first', async () => {
    const rights = new Rights(
      mayList,
      `impersonate:user-info ${authn}:users`,
      `impersonate:user-info ${authn}:groups *`,
    );
    const found = await as(open(rights), { 'impersonate-user': 'bob', 'impersonate-group': ['a', 'b', 'c', 'd'] });
    expect(found?.user.groups).toEqual(['a', 'b', 'c', 'd', 'system:authenticated']);
    await expect(as(open(rights), { 'impersonate-user': 'bob', 'impersonate-group': ['a', 'b', 'c'] })).rejects.toThrow(
      'groups',
    );
  });

  describe('of nodes and accounts', () => {
    let rights: Rights;
    const onNode = (node: string): UserInfo => ({
      username: 'system:serviceaccount:ns:agent',
      groups: [],
      extra: { 'authentication.kubernetes.io/node-name': [node], other: ['x'] },
    });
    beforeEach(() => {
      rights = new Rights('everything');
    });

    test('lets a service account impersonate the node it runs on', async () => {
      const found = await as(open(rights), { 'impersonate-user': 'system:node:n1' }, listing(onNode('n1')));
      expect(found).toEqual({
        user: { username: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] },
        constraint: 'impersonate:associated-node',
      });
      expect(rights.asked.map(({ verb, resource, name }) => [verb, resource, name])).toEqual([
        ['impersonate-on:associated-node:list', 'pods', undefined],
        ['impersonate:associated-node', 'nodes', '*'],
      ]);
      expect(rights.asked[0]?.user.extra).toEqual({
        'authentication.kubernetes.io/associated-node-keys': ['authentication.kubernetes.io/node-name', 'other'],
      });
    });

    test.each<[string, UserInfo, string]>([
      ['system:node:n2', onNode('n1'), 'impersonate:arbitrary-node'],
      ['system:node:n2', alice, 'impersonate:arbitrary-node'],
      ['system:serviceaccount:ns:x', alice, 'impersonate:serviceaccount'],
      ['system:node:Not_A_Node', alice, 'impersonate:user-info'],
      ['system:serviceaccount:ns:x:y', alice, 'impersonate:user-info'],
    ])('of %s by %s uses the most specific right', async (username, caller, constraint) => {
      expect((await as(open(rights), { 'impersonate-user': username }, listing(caller)))?.constraint).toBe(constraint);
    });

    test('of a service account with groups requires the impersonate verb', async () => {
      const headers = { 'impersonate-user': 'system:serviceaccount:ns:x', 'impersonate-group': 'g' };
      expect((await as(open(rights), headers))?.constraint).toBeUndefined();
    });
  });
});
