import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import { ClusterRoles, type PolicyRule, Roles } from '../../src/api/kinds/role.js';
import { ClusterRoleBindings, RoleBindings, type Subject } from '../../src/api/kinds/role-binding.js';
import type { UserInfo } from '../../src/api/user.js';
import { alwaysAllow, alwaysDeny } from '../../src/auth/always.js';
import { authorizationMetrics } from '../../src/auth/authorization-metrics.js';
import type { AccessAttributes, Authorizer } from '../../src/auth/authorizer.js';
import { unionAuthorizer } from '../../src/auth/authorizer-union.js';
import { accessDenied, refusal } from '../../src/auth/denial.js';
import { privilegedGroup } from '../../src/auth/privileged-group.js';
import { rbac } from '../../src/auth/rbac.js';
import { openMetrics } from '../../src/runtime/metrics.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { expectShort } from '../processor-time.js';
import { seriesOf } from '../series.js';
import { FixedObjects } from './fixed-objects.js';

const apiGroup = 'rbac.authorization.k8s.io';
const alice: UserInfo = { username: 'alice', groups: ['dev', 'system:authenticated'] };
const user = (name: string): Subject => ({ kind: 'User', apiGroup, name });
const group = (name: string): Subject => ({ kind: 'Group', apiGroup, name });
const bound = (kind: string, name: string, ...subjects: Subject[]) => ({
  roleRef: { apiGroup, kind, name },
  subjects,
});
const asked = (more: Partial<AccessAttributes> = {}): AccessAttributes => ({
  user: alice,
  verb: 'get',
  group: '',
  version: 'v1',
  resource: 'pods',
  ...more,
});

const allows = async (rules: readonly PolicyRule[], attributes: AccessAttributes): Promise<boolean> => {
  const objects = new FixedObjects()
    .put(ClusterRoles, { metadata: { name: 'r' }, rules })
    .put(ClusterRoleBindings, { metadata: { name: 'b' }, ...bound('ClusterRole', 'r', user('alice')) });
  return (await rbac(objects, defaultDomains).authorize(attributes)).verdict === 'allow';
};
const rule = (resources: string, more: Partial<PolicyRule> = {}): PolicyRule => ({
  verbs: ['get', 'list', 'create'],
  apiGroups: [''],
  resources: resources.split(' '),
  ...more,
});

describe('rules', () => {
  test.each<[boolean, PolicyRule, Partial<AccessAttributes>]>([
    [true, rule('pods'), {}],
    [false, rule('pods'), { verb: 'watch' }],
    [true, rule('pods', { verbs: ['*'] }), { verb: 'fly' }],
    [false, rule('pods', { verbs: ['G*'] }), {}],
    [false, rule('pods'), { group: 'apps' }],
    [true, rule('pods', { apiGroups: ['*'] }), { group: 'apps' }],
    [false, rule('pods'), { subresource: 'log' }],
    [true, rule('pods/log'), { subresource: 'log' }],
    [false, rule('pods/log'), {}],
    [true, rule('*/log'), { subresource: 'log' }],
    [false, rule('*/log'), {}],
    [false, rule('*/log'), { resource: 'pods/log' }],
    [true, rule('pods/log'), { resource: 'pods/log' }],
    [true, rule('*/log'), { resource: 'pods/x', subresource: 'log' }],
    [false, rule('*/log'), { resource: 'pods/log', subresource: 'x' }],
    [false, rule('pods/*'), { subresource: 'log' }],
    [false, rule('po*'), {}],
    [true, rule('*'), { subresource: 'log' }],
    [true, rule('pods', { resourceNames: ['a', 'b'] }), { name: 'b' }],
    [false, rule('pods', { resourceNames: ['a'] }), { name: 'b' }],
    [false, rule('pods', { resourceNames: ['a'] }), {}],
    [true, rule('pods', { resourceNames: [''] }), { name: '' }],
    [true, rule('pods', { resourceNames: [''] }), {}],
    [false, rule('pods', { resourceNames: [''] }), { name: 'a' }],
    [false, rule('pods', { resourceNames: ['a'] }), { verb: 'create' }],
    [false, rule('pods', { verbs: null }), {}],
    [false, { verbs: ['*'], nonResourceURLs: ['*'] }, {}],
    [true, { verbs: ['get'], nonResourceURLs: ['*'] }, { path: '/x' }],
    [true, { verbs: ['get'], nonResourceURLs: ['/x'] }, { path: '/x' }],
    [false, { verbs: ['get'], nonResourceURLs: ['/x'] }, { path: '/x/' }],
    [true, { verbs: ['get'], nonResourceURLs: ['/a/*'] }, { path: '/a/' }],
    [false, { verbs: ['get'], nonResourceURLs: ['/a/*'] }, { path: '/a' }],
    [true, { verbs: ['get'], nonResourceURLs: ['/a*'] }, { path: '/abc/d' }],
    [false, { verbs: ['get'], nonResourceURLs: ['/a/*/c'] }, { path: '/a/b/c' }],
    [false, { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, { path: '/x' }],
  ])('the result is %j for the rule %j and the request %j', async (expected, given, attributes) => {
    expect(await allows([given], asked(attributes))).toBe(expected);
    // With this many rules, an index is used.
    const others = Array.from({ length: 40 }, (_, at) => rule('pods', { verbs: ['fly'], resourceNames: [`n${at}`] }));
    const many = [...others, rule('x', { verbs: ['get', '*'] }), given, given, given];
    expect(await allows(many, asked(attributes))).toBe(expected);
  });
});

describe('bindings', () => {
  const reading = { rules: [rule('configmaps')] };
  const configMaps = (more: Partial<AccessAttributes> = {}) =>
    asked({ resource: 'configmaps', namespace: 'a', ...more });
  const account: UserInfo = {
    username: 'system:serviceaccount:a:x',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:a'],
  };

  test.each<[string, Subject, UserInfo, string, boolean]>([
    ['a user matches by name', user('alice'), alice, 'a', true],
    ['a group matches', group('dev'), alice, 'a', true],
    ['a group of which the user is not a member does not match', group('ops'), alice, 'a', false],
    ['another namespace does not match', user('alice'), alice, 'b', false],
    ['all namespaces at once do not match', user('alice'), alice, '', false],
    ['a service account matches', { kind: 'ServiceAccount', name: 'x', namespace: 'a' }, account, 'a', true],
    [
      'a service account matches in the namespace of the binding by default',
      { kind: 'ServiceAccount', name: 'x' },
      account,
      'a',
      true,
    ],
    [
      'a service account of the same name in another namespace does not match',
      { kind: 'ServiceAccount', name: 'x', namespace: 'b' },
      account,
      'a',
      false,
    ],
    ['a service account matches by its username', user('system:serviceaccount:a:x'), account, 'a', true],
    ['a service account matches by the group of its namespace', group('system:serviceaccounts:a'), account, 'a', true],
    ['a service account does not match as a group', group('system:serviceaccount:a:x'), account, 'a', false],
    ['a user does not match as a group', group('alice'), alice, 'a', false],
    ['a subject of an unknown kind does not match', { kind: 'Robot', name: 'alice' }, alice, 'a', false],
    ['a wrong apiGroup of a subject is ignored', { kind: 'User', apiGroup: 'x', name: 'alice' }, alice, 'a', true],
  ])('%s', async (_name, subject, who, namespace, expected) => {
    const objects = new FixedObjects()
      .put(Roles, { metadata: { namespace: 'a', name: 'r' }, ...reading })
      .put(RoleBindings, { metadata: { namespace: 'a', name: 'b' }, ...bound('Role', 'r', subject) });
    const { verdict } = await rbac(objects, defaultDomains).authorize(configMaps({ user: who, namespace }));
    expect(verdict).toBe(expected ? 'allow' : 'no-opinion');
  });

  test('a RoleBinding to a ClusterRole applies in its namespace only, and never to paths', async () => {
    const objects = new FixedObjects()
      .put(ClusterRoles, {
        metadata: { name: 'r' },
        rules: [rule('configmaps'), { verbs: ['get'], nonResourceURLs: ['/x'] }],
      })
      .put(RoleBindings, { metadata: { namespace: 'a', name: 'b' }, ...bound('ClusterRole', 'r', user('alice')) });
    const { authorize } = rbac(objects, defaultDomains);
    expect((await authorize(configMaps())).reason).toBe(
      'RBAC: allowed by RoleBinding "b/a" of ClusterRole "r" to User "alice"',
    );
    expect((await authorize(configMaps({ namespace: 'b' }))).verdict).toBe('no-opinion');
    expect((await authorize(asked({ path: '/x', namespace: 'a' }))).verdict).toBe('no-opinion');
  });

  test('the reason names the first matching binding and its first matching subject', async () => {
    const objects = new FixedObjects()
      .put(ClusterRoles, { metadata: { name: 'r' }, ...reading })
      .put(ClusterRoleBindings, {
        metadata: { name: 'b1' },
        ...bound('ClusterRole', 'r', user('x'), group('dev'), user('alice')),
      })
      .put(ClusterRoleBindings, { metadata: { name: 'b2' }, ...bound('ClusterRole', 'r', user('alice')) });
    expect((await rbac(objects, defaultDomains).authorize(configMaps())).reason).toBe(
      'RBAC: allowed by ClusterRoleBinding "b1" of ClusterRole "r" to Group "dev"',
    );
    const local = new FixedObjects()
      .put(Roles, { metadata: { namespace: 'a', name: 'r' }, ...reading })
      .put(RoleBindings, {
        metadata: { namespace: 'a', name: 'b' },
        ...bound('Role', 'r', { kind: 'ServiceAccount', name: 'x' }),
      });
    expect((await rbac(local, defaultDomains).authorize(configMaps({ user: account }))).reason).toBe(
      'RBAC: allowed by RoleBinding "b/a" of Role "r" to ServiceAccount "x/a"',
    );
  });

  test('missing roles are reported, cluster roles first', async () => {
    const objects = new FixedObjects()
      .put(RoleBindings, { metadata: { namespace: 'a', name: 'b' }, ...bound('Role', 'gone', user('alice')) })
      .put(ClusterRoleBindings, { metadata: { name: 'b' }, ...bound('ClusterRole', 'lost', user('alice')) });
    const authorizer = rbac(objects, defaultDomains);
    const lost = 'clusterrole.rbac.authorization.k8s.io "lost" not found';
    expect((await authorizer.authorize(configMaps())).reason).toBe(
      `RBAC: [${lost}, role.rbac.authorization.k8s.io "gone" not found]`,
    );
    expect((await authorizer.authorize(configMaps({ namespace: '' }))).reason).toBe(`RBAC: ${lost}`);
    expect((await authorizer.authorize(configMaps({ user: account }))).reason).toBe('');
    objects.put(Roles, { metadata: { namespace: 'a', name: 'gone' }, ...reading });
    expect((await authorizer.authorize(configMaps())).verdict).toBe('allow');
  });

  test('names like __proto__ are ordinary names', async () => {
    const objects = new FixedObjects()
      .put(ClusterRoles, { metadata: { name: '__proto__' }, rules: [rule('*')] })
      .put(ClusterRoleBindings, {
        metadata: { name: 'constructor' },
        ...bound('ClusterRole', '__proto__', user('__proto__')),
      });
    const { authorize } = rbac(objects, defaultDomains);
    expect((await authorize(asked())).verdict).toBe('no-opinion');
    expect((await authorize(asked({ user: { username: '__proto__', groups: [] } }))).verdict).toBe('allow');
  });
});

test('rules are listed verbatim in the order of bindings, with errors for missing roles', async () => {
  const objects = new FixedObjects()
    .put(ClusterRoles, { metadata: { name: 'c' }, rules: [rule('nodes'), { verbs: ['get'], nonResourceURLs: ['/x'] }] })
    .put(Roles, {
      metadata: { namespace: 'a', name: 'r' },
      rules: [rule('pods', { verbs: ['get', 'get'], resourceNames: ['b', 'a'] })],
    })
    .put(ClusterRoleBindings, { metadata: { name: 'b' }, ...bound('ClusterRole', 'c', group('dev')) })
    .put(RoleBindings, { metadata: { namespace: 'a', name: 'b' }, ...bound('Role', 'r', user('alice')) })
    .put(RoleBindings, { metadata: { namespace: 'a', name: 'lost' }, ...bound('Role', 'lost', user('alice')) });
  expect(await rbac(objects, defaultDomains).rulesFor(alice, 'a')).toEqual({
    resourceRules: [
      { verbs: ['get', 'list', 'create'], apiGroups: [''], resources: ['nodes'] },
      { verbs: ['get', 'get'], apiGroups: [''], resources: ['pods'], resourceNames: ['b', 'a'] },
    ],
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
    incomplete: false,
    errors: ['role.rbac.authorization.k8s.io "lost" not found'],
  });
});

test('an index updated by changes decides as one built from the current state', async () => {
  const subject = fc.oneof(
    fc.constantFrom('alice', 'bob').map(user),
    fc.constantFrom('dev', 'ops').map(group),
    fc.constantFrom('a', 'b').map((namespace) => ({ kind: 'ServiceAccount', name: 'sa', namespace })),
  );
  const change = fc.record({
    name: fc.constantFrom('x', 'y', 'z'),
    namespace: fc.constantFrom(undefined, 'a', 'b'),
    subjects: fc.option(fc.array(subject, { maxLength: 3 })),
    role: fc.constantFrom('one', 'two'),
    isAsked: fc.boolean(),
  });
  const askers = [alice, { username: 'bob', groups: ['ops'] }, { username: 'system:serviceaccount:a:sa', groups: [] }];
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
      const objects = new FixedObjects();
      const following = rbac(objects, defaultDomains);
      for (const { name, namespace, subjects, role, isAsked } of changes) {
        const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
        const [bindings, roles] = namespace === undefined ? [ClusterRoleBindings, ClusterRoles] : [RoleBindings, Roles];
        if (subjects === null) objects.remove(bindings, metadata).remove(roles, { ...metadata, name: role });
        else {
          objects.put(bindings, { metadata, ...bound(roles.kind, role, ...subjects) });
          objects.put(roles, { metadata: { ...metadata, name: role }, rules: [rule(`pods ${name}`)] });
        }
        if (!isAsked) continue;
        for (const asker of askers) {
          for (const where of ['', 'a']) {
            const asks = asked({ user: asker, namespace: where });
            const atOnce = rbac(objects, defaultDomains);
            expect(await following.authorize(asks)).toEqual(await atOnce.authorize(asks));
            expect(await following.rulesFor(asker, where)).toEqual(await atOnce.rulesFor(asker, where));
          }
        }
      }
    }),
  );
});

test('a list of rules repeated by many bindings is limited to the size of an answer', async () => {
  const resourceNames = Array.from({ length: 10_000 }, (_, at) => `${'n'.repeat(90)}${at}`);
  const objects = new FixedObjects().put(ClusterRoles, {
    metadata: { name: 'r' },
    rules: [rule('pods', { resourceNames })],
  });
  for (let i = 0; i < 50; i++) {
    objects.put(ClusterRoleBindings, { metadata: { name: `b${i}` }, ...bound('ClusterRole', 'r', user('alice')) });
  }
  const { resourceRules, incomplete, errors } = await rbac(objects, defaultDomains).rulesFor(alice, 'a');
  expect([resourceRules.length, incomplete]).toEqual([1, true]);
  expect(errors).toEqual(['too many rules to list']);
});

test('a list of rules is limited for many short rules and for a repeated role', async () => {
  const objects = new FixedObjects().put(ClusterRoles, {
    metadata: { name: 'r' },
    rules: Array.from({ length: 6_000 }, () => rule('pods')),
  });
  for (let i = 0; i < 100; i++) {
    objects.put(ClusterRoleBindings, { metadata: { name: `b${i}` }, ...bound('ClusterRole', 'r', user('alice')) });
  }
  const { rulesFor, rulesHeldBy } = rbac(objects, defaultDomains);
  const { resourceRules, incomplete } = await rulesFor(alice, 'a');
  expect([JSON.stringify(resourceRules).length < 1.1 * 1_048_576, incomplete]).toEqual([true, true]);
  expect((await rulesHeldBy(alice, 'a', { plural: 'roles' })).lists.map(({ length }) => length)).toEqual([6_000]);
});

test('a group that is repeated in a user counts once', async () => {
  const objects = new FixedObjects().put(ClusterRoles, { metadata: { name: 'r' }, rules: [rule('pods')] });
  for (let i = 0; i < 1_000; i++) {
    objects.put(ClusterRoleBindings, { metadata: { name: `b${i}` }, ...bound('ClusterRole', 'r', group('g')) });
  }
  const groups = Array<string>(45_000).fill('g');
  await expectShort(1_000, async () => {
    const answer = await rbac(objects, defaultDomains).authorize(
      asked({ user: { username: 'u', groups }, verb: 'bind' }),
    );
    expect(answer.verdict).toBe('no-opinion');
  });
});

test('a decision among ten thousand bindings is about as fast as among ten', async () => {
  const objects = new FixedObjects().put(ClusterRoles, { metadata: { name: 'r' }, rules: [rule('pods')] });
  for (let i = 0; i < 10_000; i++) {
    objects.put(ClusterRoleBindings, { metadata: { name: `b${i}` }, ...bound('ClusterRole', 'r', user(`u${i}`)) });
  }
  const { authorize } = rbac(objects, defaultDomains);
  // A different user each time, because decisions are cached.
  const last = () => asked({ user: { username: 'u9999', groups: [] } });
  expect((await authorize(last())).verdict).toBe('allow');
  await expectShort(200, async () => {
    for (let i = 0; i < 2_000; i++) await authorize(last());
  });
});

test('a decision among a hundred thousand rules is about as fast as among ten', async () => {
  const objects = new FixedObjects();
  for (let role = 0; role < 100; role++) {
    const rules = Array.from({ length: 1_000 }, (_, at) => rule('pods', { resourceNames: [`n${1_000 * role + at}`] }));
    objects.put(ClusterRoles, { metadata: { name: `r${role}` }, rules });
    objects.put(ClusterRoleBindings, {
      metadata: { name: `b${role}` },
      ...bound('ClusterRole', `r${role}`, user('alice')),
    });
  }
  const authorizer = rbac(objects, defaultDomains);
  const verdict = async (name: string) => (await authorizer.authorize(asked({ name }))).verdict;
  expect(await Promise.all(['n99999', 'n100000', ''].map(verdict))).toEqual(['allow', 'no-opinion', 'no-opinion']);
  await expectShort(200, async () => {
    for (let i = 0; i < 200; i++) await verdict('nobody');
  });
});

test('many rules are indexed in turns with other work, and once for concurrent requests', async () => {
  const rules = Array.from({ length: 50_000 }, (_, at) => rule('pods', { resourceNames: [`n${at}`] }));
  let read = 0;
  const counted = rules.map((one) =>
    Object.defineProperty({ ...one }, 'verbs', {
      get: () => {
        read++;
        return ['get'];
      },
    }),
  );
  const objects = new FixedObjects()
    .put(ClusterRoles, { metadata: { name: 'r' }, rules: counted })
    .put(ClusterRoleBindings, { metadata: { name: 'b' }, ...bound('ClusterRole', 'r', user('alice')) });
  const authorizer = rbac(objects, defaultDomains);
  let turns = 0;
  const turn = (): void => {
    turns++;
    immediate = setImmediate(turn);
  };
  let immediate = setImmediate(turn);
  const decisions = await Promise.all(Array.from({ length: 10 }, () => authorizer.authorize(asked({ name: 'n7' }))));
  clearImmediate(immediate);
  expect(new Set(decisions.map(({ verdict }) => verdict))).toEqual(new Set(['allow']));
  expect(turns).toBeGreaterThan(0);
  expect(read).toBeLessThan(2 * rules.length);
});

test('decisions are the same with and without an index of rules', () => {
  const word = (...words: readonly string[]) => fc.subarray([...words], { minLength: 0, maxLength: 2 });
  const rules = fc.array(
    fc.record({
      verbs: word('get', 'list', '*'),
      apiGroups: word('', 'apps', '*'),
      resources: word('pods', 'pods/log', '*/log', '*'),
      resourceNames: word('a', ''),
    }),
    { maxLength: 6 },
  );
  const question = fc.record({
    verb: fc.constantFrom('get', 'watch'),
    group: fc.constantFrom('', 'apps', 'batch'),
    subresource: fc.constantFrom(undefined, 'log'),
    name: fc.constantFrom(undefined, '', 'a', 'b'),
  });
  const padding = Array.from({ length: 100 }, () => rule('none'));
  return fc.assert(
    fc.asyncProperty(rules, question, async (some, asks) => {
      expect(await allows([...padding, ...some], asked(asks))).toBe(await allows(some, asked(asks)));
    }),
  );
});

describe('a union of authorizers', () => {
  const of = (...authorizers: readonly Authorizer[]) =>
    unionAuthorizer(...authorizers.map((authorizer) => ({ authorizer })));

  test('follows the first decision, and allows system:masters everything', async () => {
    const masters = asked({ user: { username: 'x', groups: ['system:masters'] } });
    expect(await of(privilegedGroup, alwaysDeny).authorize(masters)).toEqual({ verdict: 'allow', reason: '' });
    expect((await of(privilegedGroup, alwaysAllow).authorize(asked())).verdict).toBe('allow');
  });

  test('joins the reasons of authorizers without an opinion', async () => {
    expect(await of(alwaysDeny, privilegedGroup, alwaysDeny).authorize(asked())).toEqual({
      verdict: 'no-opinion',
      reason: 'Everything is forbidden.\nEverything is forbidden.',
    });
  });

  test('counts the decisions of each authorizer', async () => {
    const metrics = openMetrics();
    const { decisionsOf } = authorizationMetrics(metrics, { clock: new FakeClock(), serverId: 's' });
    const refusing: Authorizer = { authorize: async () => ({ verdict: 'deny', reason: '' }) };
    const all = unionAuthorizer(
      { authorizer: alwaysDeny, decided: decisionsOf('Node', 'node') },
      { authorizer: refusing, decided: decisionsOf('Webhook', 'default') },
      { authorizer: alwaysAllow, decided: decisionsOf('AlwaysAllow', 'alwaysallow') },
    );
    await all.authorize(asked());
    await unionAuthorizer({ authorizer: alwaysAllow, decided: decisionsOf('RBAC', 'rbac') }).authorize(asked());
    expect(await seriesOf(metrics, 'apiserver_authorization_decisions_total')).toEqual([
      '{decision="denied",name="default",type="Webhook"} 1',
      '{decision="allowed",name="rbac",type="RBAC"} 1',
    ]);
  });
});

describe('a denial', () => {
  test.each<[Partial<AccessAttributes>, string]>([
    [
      { name: 'p', namespace: 'ns' },
      'pods "p" is forbidden: User "alice" cannot get resource "pods" in API group "" in the namespace "ns"',
    ],
    [
      { verb: 'list', group: 'apps', resource: 'x' },
      'x.apps is forbidden: User "alice" cannot list resource "x" in API group "apps" at the cluster scope',
    ],
    [
      { subresource: 'token', resource: 'serviceaccounts', name: 'x' },
      'serviceaccounts "x" is forbidden: User "alice" cannot get resource "serviceaccounts/token" in API group "" at the cluster scope',
    ],
    [
      { resource: '', name: 'x' },
      'forbidden: User "alice" cannot get resource "" in API group "" at the cluster scope',
    ],
    [{ resource: '', path: '/x' }, 'forbidden: User "alice" cannot get path "/x"'],
    [
      { user: { username: 'a<b>&\'c"', groups: [] } },
      'pods is forbidden: User "a&lt;b&gt;&amp;\'c\\"" cannot get resource "pods" in API group "" at the cluster scope',
    ],
  ])('is explained for %j', (attributes, message) => {
    expect(accessDenied(asked(attributes), '').message).toBe(message);
    expect(accessDenied(asked(attributes), 'a <b>').message).toBe(`${message}: a <b>`);
  });

  test('an error without a decision is an internal error', () => {
    const failed = refusal(asked(), { verdict: 'no-opinion', reason: '', error: 'store is down' });
    expect([failed?.code, failed?.message]).toEqual([500, 'Internal error occurred: store is down']);
  });
});
