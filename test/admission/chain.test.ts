import { expect, test } from 'vitest';
import type { AdmissionAttributes, AdmissionStep } from '../../src/admission/admission-step.js';
import { runMutating, runValidating } from '../../src/admission/chain.js';
import { defaultChain } from '../../src/admission/default-chain.js';
import { defaultDomains } from '../../src/api/domains.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import type { ApiObject, ResourceType } from '../../src/api/object.js';
import { alwaysAllow } from '../../src/auth/always.js';
import { rbac } from '../../src/auth/rbac.js';
import { systemClock } from '../../src/runtime/clock.js';
import { FixedObjects } from '../auth/fixed-objects.js';

const object: ApiObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
const attributes: AdmissionAttributes & { readonly object: ApiObject } = {
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

test('each mutation sees what those before made, and none is asked that does not handle it', async () => {
  const result = await runMutating([labelling('a'), labelling('b', false), labelling('c')], attributes);
  expect(result.metadata.labels).toEqual({ a: '0', c: '1' });
  expect(object.metadata.labels).toBeUndefined();
});

test('the first refusal ends it', async () => {
  const asked: string[] = [];
  const judging = (name: string, refuses = false): AdmissionStep => ({
    name,
    handles: () => true,
    async validate() {
      asked.push(name);
      if (refuses) throw new Error(`no, says ${name}`);
    },
  });
  await expect(runValidating([judging('a'), judging('b', true), judging('c')], attributes)).rejects.toThrow(
    'no, says b',
  );
  expect(asked).toEqual(['a', 'b']);
});

test('nothing changes a role after it was judged but what only judges', () => {
  const objects = new FixedObjects();
  const names = defaultChain({
    clock: systemClock,
    nodeRestriction: true,
    authorizer: alwaysAllow,
    rbac: rbac(objects, defaultDomains),
    objects,
    domains: defaultDomains,
    mutating: [labelling('mutating')],
    validating: [labelling('validating')],
  }).map(({ name }) => name);
  expect(names[0]).toBe('NamespaceLifecycle');
  expect(names.slice(-5)).toEqual([
    'mutating',
    'RoleEscalation',
    'BindingEscalation',
    'validating',
    'NamespaceLifecycle',
  ]);
});
