import { beforeEach, describe, expect, test } from 'vitest';
import type { AdmissionAttributes } from '../../src/admission/admission-step.js';
import { AdmissionChain } from '../../src/admission/chain.js';
import { bindingEscalation } from '../../src/admission/steps/binding-escalation.js';
import { roleEscalation } from '../../src/admission/steps/role-escalation.js';
import { defaultDomains } from '../../src/api/domains.js';
import { type ClusterRole, ClusterRoles, type PolicyRule, Roles } from '../../src/api/kinds/role.js';
import { ClusterRoleBindings, RoleBindings, type Subject } from '../../src/api/kinds/role-binding.js';
import type { ApiObject, ObjectMeta, ResourceType } from '../../src/api/object.js';
import { unionAuthorizer } from '../../src/auth/authorizer-union.js';
import { privilegedGroup } from '../../src/auth/privileged-group.js';
import { rbac } from '../../src/auth/rbac.js';
import { FixedObjects } from '../auth/fixed-objects.js';
import { expectShort } from '../processor-time.js';

const apiGroup = 'rbac.authorization.k8s.io';
const apiVersion = `${apiGroup}/v1`;
const subject = (name: string): Subject => ({ kind: 'User', apiGroup, name });
const rule = (verbs: string, groups: string, resources: string, names?: string): PolicyRule => ({
  verbs: verbs.split(' '),
  apiGroups: groups.split(' '),
  resources: resources.split(' '),
  ...(names === undefined ? {} : { resourceNames: names.split(' ') }),
});

let objects: FixedObjects;
const grant = (user: string, rules: readonly PolicyRule[], namespace?: string): void => {
  const name = `${user}-${namespace ?? 'everywhere'}`;
  const roleRef = { apiGroup, kind: namespace === undefined ? 'ClusterRole' : 'Role', name };
  if (namespace === undefined) {
    objects.put(ClusterRoles, { metadata: { name }, rules });
    objects.put(ClusterRoleBindings, { metadata: { name }, roleRef, subjects: [subject(user)] });
  } else {
    objects.put(Roles, { metadata: { name, namespace }, rules });
    objects.put(RoleBindings, { metadata: { name, namespace }, roleRef, subjects: [subject(user)] });
  }
};
beforeEach(() => {
  objects = new FixedObjects();
});

/** The contents of an object, without its type. */
interface Content {
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

const write = (
  type: ResourceType<ApiObject>,
  object: Content,
  more: Partial<AdmissionAttributes> & { readonly as?: string; readonly groups?: readonly string[] } = {},
) => {
  const roles = rbac(objects, defaultDomains);
  const parts = { rbac: roles, authorizer: unionAuthorizer({ authorizer: privilegedGroup }, { authorizer: roles }) };
  const whole: ApiObject = { apiVersion, kind: type.kind, ...object };
  return new AdmissionChain([roleEscalation(parts), bindingEscalation(parts)]).mutate({
    operation: 'CREATE',
    resource: type,
    subresource: undefined,
    key: { namespace: type.namespaced ? 'ns' : undefined, name: whole.metadata.name ?? '' },
    previous: undefined,
    user: { username: more.as ?? 'alice', groups: more.groups ?? ['dev', 'system:authenticated'] },
    dryRun: false,
    warn: () => {},
    ...more,
    object: whole,
  });
};
const general = (type: object): ResourceType<ApiObject> => type as ResourceType<ApiObject>;
const role = (name: string, ...rules: readonly PolicyRule[]): Content => ({
  metadata: { name },
  rules,
});
const writeRole = (...args: [Content, Parameters<typeof write>[2]?]) => write(general(Roles), ...args);
const refusal = (resource: string, name: string, ...lines: readonly string[]): string =>
  `${resource}.${apiGroup} "${name}" is forbidden: user "alice" (groups=["dev" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}`;

describe('roles', () => {
  beforeEach(() => {
    grant('alice', [rule('get list', '', 'configmaps secrets'), rule('get', '', 'serviceaccounts', 'one two')], 'ns');
    grant('alice', [{ verbs: ['get'], nonResourceURLs: ['/a/*'] }, rule('update', 'apps', '*/scale')]);
  });

  test.each([
    ['a right that the writer holds', rule('get', '', 'configmaps')],
    ['rights that the writer holds in several rules', rule('list get', '', 'secrets configmaps')],
    ['fewer names than the writer holds', rule('get', '', 'configmaps', 'x')],
    ['a name that the writer holds', rule('get', '', 'serviceaccounts', 'two')],
    ['a subresource that a star covers', rule('update', 'apps', 'deployments/scale')],
    ['a path that a prefix covers', { verbs: ['get'], nonResourceURLs: ['/a/b', '/a/*'] }],
    ['a rule without verbs', rule('', '', 'pods').verbs?.length ? { ...rule('x', '', 'pods'), verbs: [] } : {}],
  ])('granting %s is allowed', async (_name, given) => {
    expect(await writeRole(role('r', given))).toBeDefined();
  });

  test.each<[string, readonly PolicyRule[], readonly string[]]>([
    [
      'one more verb',
      [rule('get list watch', '', 'configmaps secrets')],
      [
        '{APIGroups:[""], Resources:["configmaps"], Verbs:["watch"]}',
        '{APIGroups:[""], Resources:["secrets"], Verbs:["watch"]}',
      ],
    ],
    [
      'several verbs (listed in the order written)',
      [rule('watch create', '', 'configmaps')],
      ['{APIGroups:[""], Resources:["configmaps"], Verbs:["watch" "create"]}'],
    ],
    ['everything', [rule('*', '*', '*')], ['{APIGroups:["*"], Resources:["*"], Verbs:["*"]}']],
    [
      'more names than the writer holds',
      [rule('get', '', 'serviceaccounts', 'two three')],
      ['{APIGroups:[""], Resources:["serviceaccounts"], ResourceNames:["three"], Verbs:["get"]}'],
    ],
    [
      'all names',
      [rule('get', '', 'serviceaccounts')],
      ['{APIGroups:[""], Resources:["serviceaccounts"], Verbs:["get"]}'],
    ],
    [
      'a subresource',
      [rule('get', '', 'configmaps/status')],
      ['{APIGroups:[""], Resources:["configmaps/status"], Verbs:["get"]}'],
    ],
    [
      'another group',
      [rule('get', ' apps', 'configmaps')],
      ['{APIGroups:["apps"], Resources:["configmaps"], Verbs:["get"]}'],
    ],
    [
      'several rules (listed in sorted lines)',
      [rule('delete', '', 'secrets'), rule('watch', '', 'configmaps'), rule('get', 'apps', 'x')],
      [
        '{APIGroups:[""], Resources:["configmaps"], Verbs:["watch"]}',
        '{APIGroups:[""], Resources:["secrets"], Verbs:["delete"]}',
        '{APIGroups:["apps"], Resources:["x"], Verbs:["get"]}',
      ],
    ],
    [
      'several paths (listed on a line each)',
      [{ verbs: ['get', 'post'], nonResourceURLs: ['/b', '/a/x'] }],
      [
        '{NonResourceURLs:["/a/x"], Verbs:["post"]}',
        '{NonResourceURLs:["/b"], Verbs:["get"]}',
        '{NonResourceURLs:["/b"], Verbs:["post"]}',
      ],
    ],
  ])('granting %s is refused', async (_name, rules, lines) => {
    await expect(writeRole(role('r', ...rules))).rejects.toMatchObject({
      reason: 'Forbidden',
      message: refusal('roles', 'r', ...lines),
      details: { name: 'r', group: apiGroup, kind: 'roles' },
    });
  });

  test('rights in a namespace do not suffice for a ClusterRole', async () => {
    await expect(write(general(ClusterRoles), role('r', rule('get', '', 'configmaps')))).rejects.toThrow(
      'not currently held',
    );
  });

  test('a refusal reports a broken binding of the writer, under the resource that is written', async () => {
    objects.put(RoleBindings, {
      metadata: { name: 'z', namespace: 'ns' },
      roleRef: { apiGroup, kind: 'Role', name: 'lost' },
      subjects: [subject('alice')],
    });
    await expect(writeRole(role('r', rule('get', '', 'pods')))).rejects.toThrow(
      '; resolution errors: [roles.rbac.authorization.k8s.io "lost" not found]',
    );
  });

  test('a refusal lists missing rights only up to its size limit', async () => {
    const names = (prefix: string): readonly string[] =>
      Array.from({ length: 150 }, (_, at) => `${prefix}${at}${'x'.repeat(5_000)}`);
    const rules = [{ verbs: ['get'], apiGroups: names('g'), resources: names('r') }];
    const { message } = await write(Roles as never, { metadata: { name: 'r', namespace: 'ns' }, rules } as never).then(
      () => ({ message: '' }),
      (error: Error) => error,
    );
    expect(message).toMatch(/permissions not currently held:\n\{APIGroups:\["g0x+"\], /);
    expect(message.endsWith('}\n...')).toBe(true);
    expect(message.length).toBeLessThan(300_000);
  });

  test('rights that many bindings repeat are checked once, and too many of them are refused', async () => {
    const rules = (size: number) => [rule('get', '', 'x', Array.from({ length: size }, (_, at) => `n${at}`).join(' '))];
    const bind = (name: string, size: number): void => {
      objects.put(ClusterRoles, { metadata: { name }, rules: rules(size) });
      for (let i = 0; i < 20; i++) {
        const roleRef = { apiGroup, kind: 'ClusterRole', name };
        objects.put(ClusterRoleBindings, { metadata: { name: `${name}${i}` }, roleRef, subjects: [subject(name)] });
      }
    };
    const grants = { metadata: { name: 'r', namespace: 'ns' }, rules: [rule('get', '', 'x', 'n7')] } as never;
    bind('much', 100_000);
    await write(Roles as never, grants, { as: 'much' });
    bind('toomuch', 600_000);
    await expect(write(Roles as never, grants, { as: 'toomuch' })).rejects.toThrow('too many permissions to check');
  });

  test('system:masters and users who may escalate can write any role', async () => {
    const all = role('r', rule('*', '*', '*'));
    expect(await writeRole(all, { groups: ['system:masters'] })).toBeDefined();
    grant('dan', [rule('escalate', apiGroup, 'roles', 'r')], 'ns');
    await expect(writeRole(all, { as: 'dan' })).rejects.toThrow('not currently held');
    expect(await writeRole(all, { as: 'dan', urlName: 'r' })).toBeDefined();
    expect(
      await writeRole(all, { as: 'dan', operation: 'UPDATE', previous: { ...all, apiVersion, kind: 'Role' } }),
    ).toBeDefined();
  });

  test('an update that changes only fields of the garbage collector is allowed', async () => {
    const stored: ApiObject = {
      apiVersion,
      kind: 'Role',
      ...role('r', rule('*', '*', '*')),
      metadata: { name: 'r', uid: 'u', resourceVersion: '1', labels: {} },
    };
    const update = (metadata: ApiObject['metadata'], more: object = {}) =>
      writeRole({ ...stored, ...more, metadata }, { operation: 'UPDATE', previous: stored });
    const { labels: _empty, ...same } = stored.metadata;
    expect(await update({ ...same, finalizers: ['x/y'], managedFields: [{ manager: 'm' }] })).toBeDefined();
    await expect(update({ ...same, labels: { a: 'b' } })).rejects.toThrow('not currently held');
    await expect(update({ name: 'r', finalizers: ['x/y'] })).rejects.toThrow('not currently held');
  });

  test('setting or removing an aggregation rule requires all rights', async () => {
    grant('bob', [rule('*', '*', '*')]);
    const aggregationRule: NonNullable<ClusterRole['aggregationRule']> = {
      clusterRoleSelectors: [{ matchLabels: { a: 'b' } }],
    };
    const aggregated = { ...role('r'), aggregationRule };
    const message = 'must have cluster-admin privileges to use the aggregationRule';
    await expect(write(general(ClusterRoles), aggregated)).rejects.toThrow(message);
    const previous = { apiVersion, kind: 'ClusterRole', ...aggregated };
    await expect(write(general(ClusterRoles), role('r'), { operation: 'UPDATE', previous })).rejects.toThrow(message);
    expect(await write(general(ClusterRoles), aggregated, { as: 'bob' })).toBeDefined();
    const plain = { apiVersion, kind: 'ClusterRole', ...role('r'), metadata: { name: 'r', labels: { a: 'b' } } };
    expect(await write(general(ClusterRoles), role('r'), { operation: 'UPDATE', previous: plain })).toBeDefined();
  });

  test('an aggregation rule without selectors aggregates nothing and is left to validation', async () => {
    const empty = { ...role('r'), aggregationRule: { clusterRoleSelectors: [] } };
    expect(await write(general(ClusterRoles), empty)).toBeDefined();
  });

  test('the refusal of a role whose name is still to be generated contains no name', async () => {
    const nameless: Content = { metadata: { generateName: 'r-' }, rules: [rule('get', '', 'pods')] };
    await expect(writeRole(nameless)).rejects.toMatchObject({
      message: expect.stringMatching(/^roles\.rbac\.authorization\.k8s\.io is forbidden: user "alice" /),
      details: { group: apiGroup, kind: 'roles' },
    });
  });

  test('a rule with a billion combinations is refused quickly', async () => {
    const many = Array.from({ length: 1_000 }, (_, i) => `x${i}`).join(' ');
    await expectShort(2_000, () =>
      expect(writeRole(role('r', rule(many, many, many)))).rejects.toMatchObject({ reason: 'Forbidden' }),
    );
  });
});

describe('bindings', () => {
  const binding = (kind: string, name: string) => ({
    metadata: { name: 'b' },
    roleRef: { apiGroup, kind, name },
    subjects: [subject('somebody')],
  });
  const bind = (kind: string, name: string, more: Parameters<typeof write>[2] = {}) =>
    write(general(RoleBindings), binding(kind, name), more);
  const bindEverywhere = (name: string, more: Parameters<typeof write>[2] = {}) =>
    write(general(ClusterRoleBindings), binding('ClusterRole', name), more);
  beforeEach(() => {
    objects.put(ClusterRoles, { metadata: { name: 'weak' }, rules: [rule('get', '', 'configmaps')] });
    grant('alice', [rule('get', '', 'configmaps')], 'ns');
  });

  test('a role whose rights are held in one namespace may be bound in that namespace only', async () => {
    expect(await bind('ClusterRole', 'weak')).toBeDefined();
    await expect(bindEverywhere('weak')).rejects.toThrow(
      refusal('clusterrolebindings', 'b', '{APIGroups:[""], Resources:["configmaps"], Verbs:["get"]}'),
    );
  });

  test('the verb bind permits a binding, limited to the names of its rule', async () => {
    grant('carol', [rule('bind', apiGroup, 'clusterroles', 'weak later')]);
    expect(await bindEverywhere('weak', { as: 'carol' })).toBeDefined();
    expect(await bind('ClusterRole', 'later', { as: 'carol' })).toBeDefined();
    await expect(bindEverywhere('cluster-admin', { as: 'carol' })).rejects.toMatchObject({ reason: 'NotFound' });
    await expect(bind('Role', 'later', { as: 'carol' })).rejects.toMatchObject({ reason: 'NotFound' });
    grant('dave', [rule('bind', apiGroup, 'roles', 'later')], 'ns');
    expect(await bind('Role', 'later', { as: 'dave' })).toBeDefined();
    await expect(bind('ClusterRole', 'later', { as: 'dave' })).rejects.toMatchObject({ reason: 'NotFound' });
  });

  test('a missing role is reported as not found, under the resource of the binding', async () => {
    await expect(bind('Role', 'r')).rejects.toMatchObject({
      reason: 'NotFound',
      message: `rolebindings.${apiGroup} "r" not found`,
      details: { name: 'r', group: apiGroup, kind: 'rolebindings' },
    });
  });

  test.each([
    ['', 'Name parameter required.'],
    ['a/b%', `Name parameter invalid: "a/b%": may not contain '/';may not contain '%'`],
  ])('a reference to a role named %j is a bad request', async (name, message) => {
    await expect(bind('Role', name)).rejects.toMatchObject({ reason: 'BadRequest', message });
  });

  test('a Role cannot be bound by a ClusterRoleBinding', async () => {
    await expect(write(general(ClusterRoleBindings), binding('Role', 'r'))).rejects.toMatchObject({
      reason: 'BadRequest',
      message: 'Namespace parameter required.',
    });
  });

  test('a reference to any kind other than a role is refused', async () => {
    await expect(bind('Robot', 'r')).rejects.toMatchObject({
      reason: undefined,
      code: 500,
      message: 'unsupported role reference kind: "Robot"',
    });
  });
});
