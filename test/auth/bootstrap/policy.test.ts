import { describe, expect, test } from 'vitest';
import { defaultDomains } from '../../../src/api/domains.js';
import { type ClusterRole, ClusterRoles, Roles } from '../../../src/api/kinds/role.js';
import { type ClusterRoleBinding, ClusterRoleBindings, RoleBindings } from '../../../src/api/kinds/role-binding.js';
import type { AccessAttributes } from '../../../src/auth/authorizer.js';
import { controllerAccounts, controllerUser } from '../../../src/auth/bootstrap/controller-roles.js';
import { bootstrapPolicy } from '../../../src/auth/bootstrap/policy.js';
import { reconcileBootstrap } from '../../../src/auth/bootstrap/reconcile.js';
import { rbac } from '../../../src/auth/rbac.js';
import { FixedObjects } from '../fixed-objects.js';

const policy = bootstrapPolicy(defaultDomains, { signers: ['example.test/ci'] });
const role = (name: string): ClusterRole => {
  const found = policy.clusterRoles.find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`no ClusterRole ${name}`);
  return found;
};

describe('the policy', () => {
  test('marks every object, and every binding refers to an existing role', () => {
    const { clusterRoles, clusterRoleBindings, roles, roleBindings } = policy;
    const names = new Set(clusterRoles.map(({ metadata }) => metadata.name));
    const localNames = new Set(roles.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`));
    expect(names.size).toBe(clusterRoles.length);
    for (const { metadata } of [...clusterRoles, ...clusterRoleBindings, ...roles, ...roleBindings]) {
      expect(metadata.labels?.['kubernetes.io/bootstrapping']).toBe('rbac-defaults');
      expect(metadata.annotations).toEqual({ 'rbac.authorization.kubernetes.io/autoupdate': 'true' });
    }
    for (const { roleRef } of clusterRoleBindings) expect(names).toContain(roleRef.name);
    for (const { roleRef, metadata } of roleBindings) {
      expect(localNames).toContain(`${metadata.namespace}/${roleRef.name}`);
    }
  });

  test('lets view see neither Secrets nor roles', () => {
    const rules = role('system:aggregate-to-view').rules ?? [];
    expect(rules.flatMap(({ resources = [] }) => resources)).not.toContain('secrets');
    expect(rules.flatMap(({ apiGroups = [] }) => apiGroups)).not.toContain('rbac.authorization.k8s.io');
    expect(rules.every(({ verbs }) => JSON.stringify(verbs) === '["get","list","watch"]')).toBe(true);
  });

  test('aggregates admin, edit and view from other roles', () => {
    const label = (target: string) => ({ [`rbac.authorization.k8s.io/aggregate-to-${target}`]: 'true' });
    expect(role('edit')).toMatchObject({
      rules: null,
      metadata: { labels: label('admin') },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: label('edit') }] },
    });
    expect(role('system:aggregate-to-admin').metadata.labels).toMatchObject(label('admin'));
  });

  test('renames groups, signers and annotations for other domains', () => {
    const text = JSON.stringify(
      bootstrapPolicy({ api: 'api.test', signer: 'signer.test', extensions: ['x-'] }).clusterRoles,
    ).replaceAll('"apiVersion":"rbac.authorization.k8s.io/v1"', '');
    expect(text).not.toMatch(/k8s\.io|kubernetes\.io/);
    expect(text).toContain('signer.test/apiserver-client-nodeagent');
  });
});

describe('controllers', () => {
  const objects = new FixedObjects();
  for (const object of policy.clusterRoles) objects.put(ClusterRoles, object);
  for (const object of policy.clusterRoleBindings) objects.put(ClusterRoleBindings, object);
  for (const object of policy.roles) objects.put(Roles, object);
  for (const object of policy.roleBindings) objects.put(RoleBindings, object);
  const { authorize } = rbac(objects, defaultDomains);
  const certificates = 'certificates.k8s.io';
  const may = async (
    controller: keyof typeof controllerAccounts,
    verb: string,
    group: string,
    resource: string,
    more: Partial<AccessAttributes> = {},
  ): Promise<boolean> => {
    const attributes = { user: controllerUser(controller), verb, group, version: 'v1', resource, ...more };
    return (await authorize(attributes)).verdict === 'allow';
  };

  test.each(Object.keys(controllerAccounts) as (keyof typeof controllerAccounts)[])(
    'the controller %s has rules',
    (controller) => {
      expect(role(`system:controller:${controllerAccounts[controller]}`).rules?.length).toBeGreaterThan(0);
    },
  );

  test('the kube-controller-manager has the rights for certificates and trust bundles', async () => {
    const may = async (account: string, verb: string, resource: string, name = ''): Promise<boolean> => {
      const user = {
        username: `system:serviceaccount:kube-system:${account}`,
        groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
      };
      return (await authorize({ user, verb, group: certificates, version: 'v1', resource, name })).verdict === 'allow';
    };
    const publisher = 'kube-apiserver-serving-clustertrustbundle-publisher';
    expect(await may(publisher, 'update', 'clustertrustbundles')).toBe(true);
    expect(await may(publisher, 'attest', 'signers', 'kubernetes.io/kube-apiserver-serving')).toBe(true);
    expect(await may(publisher, 'attest', 'signers', 'kubernetes.io/kube-apiserver-client')).toBe(false);
    expect(await may('certificate-controller', 'sign', 'signers', 'kubernetes.io/kube-apiserver-client')).toBe(true);
  });

  test('approvers may not sign, and signers may not approve', async () => {
    const signer = (name: string) => ({ name: `kubernetes.io/${name}` });
    expect(await may('csr-approver', 'approve', certificates, 'signers', signer('kube-apiserver-client-kubelet'))).toBe(
      true,
    );
    expect(await may('csr-approver', 'approve', certificates, 'signers', signer('apiserver-client-nodeagent'))).toBe(
      true,
    );
    expect(await may('csr-approver', 'approve', certificates, 'signers', signer('kube-apiserver-client'))).toBe(false);
    expect(await may('csr-approver', 'sign', certificates, 'signers', signer('kube-apiserver-client'))).toBe(false);
    expect(await may('csr-signer', 'sign', certificates, 'signers', signer('kube-apiserver-client'))).toBe(true);
    expect(await may('csr-signer', 'approve', certificates, 'signers', signer('kube-apiserver-client-kubelet'))).toBe(
      false,
    );
    expect(await may('csr-signer', 'sign', certificates, 'signers', { name: 'example.test/ci' })).toBe(true);
    expect(await may('csr-signer', 'sign', certificates, 'signers', { name: 'example.test/other' })).toBe(false);
    expect(await may('trust-bundle-publisher', 'attest', certificates, 'signers', { name: 'example.test/ci' })).toBe(
      true,
    );
  });

  test.each<[keyof typeof controllerAccounts, string, string, string]>([
    ['csr-cleaner', 'update', certificates, 'certificatesigningrequests'],
    ['service-account', 'delete', '', 'serviceaccounts'],
    ['root-ca-publisher', 'get', '', 'secrets'],
    ['namespace', 'create', '', 'configmaps'],
    ['garbage-collector', 'create', '', 'configmaps'],
    ['clusterrole-aggregation', 'create', 'rbac.authorization.k8s.io', 'clusterroles'],
  ])('%s may not %s %s/%s', async (controller, verb, group, resource) => {
    expect(await may(controller, verb, group, resource)).toBe(false);
  });
});

describe('reconciling', () => {
  const wanted = role('system:basic-user');
  const binding = policy.clusterRoleBindings.find(
    ({ metadata }) => metadata.name === 'system:discovery',
  ) as ClusterRoleBinding;
  const stored: ClusterRole = { ...wanted, metadata: { ...wanted.metadata, uid: 'u', resourceVersion: '5' } };

  test('creates missing objects, and leaves complete ones', () => {
    expect(reconcileBootstrap(undefined, wanted)).toEqual({ action: 'create', object: wanted });
    expect(reconcileBootstrap(stored, wanted)).toEqual({ action: 'none' });
    for (const object of policy.clusterRoles) expect(reconcileBootstrap(object, object)).toEqual({ action: 'none' });
    for (const object of policy.roleBindings) expect(reconcileBootstrap(object, object)).toEqual({ action: 'none' });
  });

  test('restores missing rules, and keeps added ones', () => {
    const extra = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
    const changed: ClusterRole = { ...stored, rules: [extra, ...(wanted.rules ?? []).slice(1)] };
    const result = reconcileBootstrap(changed, wanted);
    expect(result).toMatchObject({ action: 'update', object: { metadata: { resourceVersion: '5' } } });
    const rules = 'object' in result ? (result.object.rules ?? []) : [];
    expect(rules[0]).toEqual(extra);
    expect(rules.length).toBeGreaterThan((changed.rules ?? []).length);
    expect(reconcileBootstrap({ ...changed, rules }, wanted)).toEqual({ action: 'none' });
  });

  test('does not add rules that wider ones cover', () => {
    const wide: ClusterRole = { ...stored, rules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }] };
    expect(reconcileBootstrap(wide, wanted)).toEqual({ action: 'none' });
  });

  test('keeps changed values of labels and annotations', () => {
    const labels = { 'kubernetes.io/bootstrapping': 'mine' };
    const result = reconcileBootstrap({ ...stored, metadata: { ...stored.metadata, labels, annotations: {} } }, wanted);
    expect(result).toMatchObject({
      action: 'update',
      object: { metadata: { labels, annotations: wanted.metadata.annotations } },
    });
  });

  test.each(['labels', 'annotations'] as const)('restores missing %s, and nothing else', (member) => {
    const without = { ...stored, metadata: { ...stored.metadata, [member]: {} } };
    expect(reconcileBootstrap(without, wanted)).toEqual({ action: 'update', object: stored });
  });

  test('changes nothing if autoupdate is false', () => {
    const annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' };
    expect(reconcileBootstrap({ ...stored, rules: [], metadata: { ...stored.metadata, annotations } }, wanted)).toEqual(
      { action: 'none' },
    );
  });

  test('adds missing subjects to a binding, and recreates it for another role', () => {
    const mine = { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'me' };
    const result = reconcileBootstrap({ ...binding, subjects: [mine] }, binding);
    expect(result).toMatchObject({ action: 'update', object: { subjects: [mine, ...(binding.subjects ?? [])] } });
    const other = { ...binding, roleRef: { ...binding.roleRef, name: 'other' } };
    expect(reconcileBootstrap(other, binding)).toEqual({ action: 'recreate', object: binding });
  });

  test('restores selectors of aggregated roles, and ignores their rules', () => {
    const view = role('view');
    const filled: ClusterRole = { ...view, rules: [{ verbs: ['get'] }] };
    expect(reconcileBootstrap(filled, view)).toEqual({ action: 'none' });
    expect(
      reconcileBootstrap({ ...filled, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { x: 'y' } }] } }, view),
    ).toMatchObject({
      action: 'update',
      object: { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { x: 'y' } }, {}] } },
    });
  });
});
