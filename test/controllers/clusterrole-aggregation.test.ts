import { describe, expect, test } from 'vitest';
import { aggregatedRules } from '../../controllers/clusterrole-aggregation/aggregate.js';
import { clusterRoleAggregation } from '../../controllers/clusterrole-aggregation/clusterrole-aggregation.js';
import { type ClusterRole, ClusterRoles } from '../../src/api/kinds/role.js';
import { runSync } from '../../src/api/steps.js';
import { settled } from '../../src/testing/fake-clock.js';
import { testServer } from '../../src/testing/test-server.js';
import { until } from '../../src/testing/until.js';
import { runControllers } from './run-controllers.js';

const role = (
  name: string,
  labels: Readonly<Record<string, string>>,
  verbs: readonly string[],
  more: object = {},
): ClusterRole => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name, labels },
  rules: verbs.map((verb) => ({ verbs: [verb], apiGroups: [''], resources: ['pods'] })),
  ...more,
});
const aggregated = (name: string, ...labels: readonly string[]): ClusterRole =>
  role(name, { to: 'itself' }, [], {
    aggregationRule: { clusterRoleSelectors: labels.map((to) => ({ matchLabels: { to } })) },
  });
const verbsOf = (rules: ClusterRole['rules']): readonly string[] => (rules ?? []).flatMap(({ verbs }) => verbs ?? []);

test("rules are ordered by selector and role name, each once, without the role's own", () => {
  const all = [
    role('z', { to: 'edit' }, ['update', 'get']),
    role('a', { to: 'edit' }, ['get', 'patch']),
    role('m', { to: 'view' }, ['list', 'get']),
    role('other', { to: 'admin' }, ['delete']),
    role('sum', { to: 'edit' }, ['escalate']),
  ];
  expect(verbsOf(runSync(aggregatedRules(aggregated('sum', 'view', 'edit'), all)))).toEqual([
    'list',
    'get',
    'patch',
    'update',
  ]);
});

test('selectors are evaluated one step at a time', () => {
  const selectors = Array.from({ length: 5_000 }, (_, at) => `v${at}`);
  const steps = aggregatedRules(aggregated('sum', ...selectors), [role('a', { to: 'edit' }, ['get'])]);
  expect([...steps].length).toBeGreaterThanOrEqual(selectors.length);
});

describe('clusterrole-aggregation', () => {
  test('follows the selected roles, and overwrites edits', async () => {
    const { client, complaints } = await runControllers([clusterRoleAggregation()], async (api) => {
      await api.resource(ClusterRoles).create(aggregated('sum', 'sum'));
      await api.resource(ClusterRoles).create(role('one', { to: 'sum' }, ['get']));
    });
    const roles = client.resource(ClusterRoles);
    const verbs = async () => verbsOf((await roles.get({ name: 'sum' }))?.rules);
    expect(await verbs()).toEqual(['get']);
    await roles.create(role('two', { to: 'sum' }, ['list']));
    await settled();
    expect(await verbs()).toEqual(['get', 'list']);
    await roles.update(role('one', {}, ['get']));
    await settled();
    expect(await verbs()).toEqual(['list']);
    const edited = await roles.get({ name: 'sum' });
    if (edited === undefined) throw new Error('gone');
    await roles.update({ ...edited, rules: [{ verbs: ['*'] }] });
    await settled();
    expect(await verbs()).toEqual(['list']);
    expect(complaints).toEqual([]);
  });

  test('removes the rules when the last selected role is gone', async () => {
    await using server = await testServer({ controllers: ['clusterrole-aggregation'] });
    const roles = server.client.resource(ClusterRoles);
    await roles.create(role('one', { to: 'sum' }, ['get']));
    await roles.create(aggregated('sum', 'sum'));
    const sum = { name: 'sum' };
    const filled = await until(roles, sum, (found) => verbsOf(found?.rules).length > 0);
    expect(filled?.metadata.managedFields?.map(({ manager }) => manager)).toContain(
      'clusterrole-aggregation-controller',
    );
    await roles.delete({ name: 'one' });
    const emptied = await until(roles, sum, (found) => verbsOf(found?.rules).length === 0);
    expect(emptied?.metadata.managedFields?.map(({ manager }) => manager)).not.toContain(
      'clusterrole-aggregation-controller',
    );
  });

  test('a role that selects nothing is not written', async () => {
    const { client } = await runControllers([clusterRoleAggregation()], (api) =>
      api.resource(ClusterRoles).create({ ...aggregated('sum', 'nobody'), rules: null }),
    );
    expect(client.writes).toEqual(['create clusterroles sum']);
  });
});
