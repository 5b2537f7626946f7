import { expect, test } from 'vitest';
import { admissionMetrics } from '../../src/admission/admission-metrics.js';
import type { AdmissionAttributes, AdmissionStep, WriteAttributes } from '../../src/admission/admission-step.js';
import { AdmissionChain } from '../../src/admission/chain.js';
import { defaultChain } from '../../src/admission/default-chain.js';
import { defaultDomains } from '../../src/api/domains.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Namespaces } from '../../src/api/kinds/namespace.js';
import { Nodes } from '../../src/api/kinds/node.js';
import type { ApiObject, ResourceType } from '../../src/api/object.js';
import { alwaysAllow } from '../../src/auth/always.js';
import { rbac } from '../../src/auth/rbac.js';
import { systemClock } from '../../src/runtime/clock.js';
import { openMetrics } from '../../src/runtime/metrics.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { FixedObjects } from '../auth/fixed-objects.js';

const object: ApiObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
const attributes: WriteAttributes = {
  operation: 'CREATE',
  resource: ConfigMaps as ResourceType<ApiObject>,
  subresource: undefined,
  key: { namespace: 'ns', name: 'a' },
  object,
  previous: undefined,
  user: { username: 'u', groups: [] },
  dryRun: false,
  warn: () => {},
};
const labelling = (label: string, handles = true): AdmissionStep => ({
  name: label,
  handles: () => handles,
  mutate: async ({ object: seen }) => ({
    ...object,
    metadata: {
      ...seen?.metadata,
      labels: { ...seen?.metadata.labels, [label]: String(Object.keys(seen?.metadata.labels ?? {}).length) },
    },
  }),
});

test('each mutation sees the result of those before it, and steps that do not handle the request are skipped', async () => {
  const result = await new AdmissionChain([labelling('a'), labelling('b', false), labelling('c')]).mutate(attributes);
  expect(result.metadata.labels).toEqual({ a: '0', c: '1' });
  expect(object.metadata.labels).toBeUndefined();
});

test('steps that do not handle the request are skipped in the check before creation, too', async () => {
  const asked: string[] = [];
  const looking = (name: string, handles = true): AdmissionStep => ({
    name,
    handles: () => handles,
    async beforeCreation() {
      asked.push(name);
    },
  });
  await new AdmissionChain([looking('a'), labelling('b'), looking('c', false), looking('d')]).beforeCreation(
    attributes,
  );
  expect(asked).toEqual(['a', 'd']);
});

test('the first refusal ends the validation', async () => {
  const asked: string[] = [];
  const judging = (name: string, refuses = false): AdmissionStep => ({
    name,
    handles: () => true,
    async validate() {
      asked.push(name);
      if (refuses) throw new Error(`no, says ${name}`);
    },
  });
  await expect(
    new AdmissionChain([judging('a'), judging('b', true), judging('c')]).validate(attributes),
  ).rejects.toThrow('no, says b');
  expect(asked).toEqual(['a', 'b']);
});

test('the duration of each step and of each phase is measured', async () => {
  const clock = new FakeClock();
  const metrics = openMetrics();
  const slow = (name: string, milliseconds: number, error?: Error): AdmissionStep => ({
    name,
    handles: () => true,
    async mutate() {
      await clock.advance(milliseconds);
      return object;
    },
    async validate() {
      await clock.advance(milliseconds);
      if (error !== undefined) throw error;
    },
    async beforeDeletion() {
      await clock.advance(milliseconds);
    },
  });
  const steps = [slow('Quick', 2), slow('Strict', 30, new Error('no')), slow('Never', 1)];
  const chain = new AdmissionChain(steps, admissionMetrics(metrics, clock));
  await chain.mutate(attributes);
  await expect(chain.admitDeletion({ ...attributes, operation: 'DELETE' })).rejects.toThrow('no');
  const { text } = await metrics.expose();
  const sums = text.split('\n').filter((line) => /_(sum|count)\{/.test(line));
  expect(sums.map((line) => line.replace('apiserver_admission_', ''))).toEqual(
    [
      ['controller', 'name="Quick",operation="CREATE",rejected="false",type="admit"', 0.002],
      ['controller', 'name="Strict",operation="CREATE",rejected="false",type="admit"', 0.03],
      ['controller', 'name="Never",operation="CREATE",rejected="false",type="admit"', 0.001],
      ['controller', 'name="Quick",operation="DELETE",rejected="false",type="admit"', 0.002],
      ['controller', 'name="Strict",operation="DELETE",rejected="false",type="admit"', 0.03],
      ['controller', 'name="Never",operation="DELETE",rejected="false",type="admit"', 0.001],
      ['controller', 'name="Quick",operation="DELETE",rejected="false",type="validate"', 0.002],
      ['controller', 'name="Strict",operation="DELETE",rejected="true",type="validate"', 0.03],
      ['step', 'operation="CREATE",rejected="false",type="admit"', 0.033],
      ['step', 'operation="DELETE",rejected="false",type="admit"', 0.033],
      ['step', 'operation="DELETE",rejected="true",type="validate"', 0.032],
    ].flatMap(([of, labels, seconds]) => [
      `${of}_admission_duration_seconds_sum{${labels}} ${seconds}`,
      `${of}_admission_duration_seconds_count{${labels}} 1`,
    ]),
  );
});

const chainAround = (mutating: AdmissionStep, validating: AdmissionStep): readonly AdmissionStep[] => {
  const objects = new FixedObjects();
  return defaultChain({
    clock: systemClock,
    nodeRestriction: true,
    authorizer: alwaysAllow,
    rbac: rbac(objects, defaultDomains),
    objects,
    domains: defaultDomains,
    mutating: [mutating],
    validating: [validating],
  });
};

test.each<[string, Partial<AdmissionAttributes> & { readonly resource: ResourceType }, string | undefined]>([
  [
    'a namespace that the server needs',
    { resource: Namespaces, key: { name: 'default' } },
    'namespaces "default" is forbidden: this namespace may not be deleted',
  ],
  [
    'a node, requested by the agent of another node',
    { resource: Nodes, key: { name: 'n2' }, user: { username: 'system:node:n1', groups: ['system:nodes'] } },
    'nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2"',
  ],
  [
    'all nodes, requested by the agent of one of them',
    {
      resource: Nodes,
      key: { name: 'n1' },
      user: { username: 'system:node:n1', groups: ['system:nodes'] },
      isCollectionDelete: true,
    },
    'nodes "Unknown" is forbidden: node "n1" is not allowed to modify node ""',
  ],
  ['an ordinary namespace', { resource: Namespaces, key: { name: 'mine' } }, undefined],
])('whether %s may be deleted is decided before any webhook is called', async (_, given, refusal) => {
  let asked = 0;
  const webhook: AdmissionStep = {
    name: 'webhook',
    handles: () => true,
    async beforeDeletion() {
      asked++;
    },
  };
  const chain = new AdmissionChain(chainAround(webhook, labelling('validating')));
  const deletion = { ...attributes, operation: 'DELETE', object: undefined, previous: object, ...given } as const;
  const judged = chain.admitDeletion(deletion as AdmissionAttributes);
  await (refusal === undefined ? judged : expect(judged).rejects.toThrow(refusal));
  expect(asked).toBe(refusal === undefined ? 1 : 0);
});

test('after the escalation checks of a role only validating steps run', () => {
  const names = chainAround(labelling('mutating'), labelling('validating')).map(({ name }) => name);
  expect(names[0]).toBe('NamespaceLifecycle');
  expect(names.slice(-5)).toEqual([
    'mutating',
    'RoleEscalation',
    'BindingEscalation',
    'validating',
    'NamespaceLifecycle',
  ]);
});
