import { describe, expect, test } from 'vitest';
import type { AdmissionAttributes } from '../../../src/admission/admission-step.js';
import { invocationOf, isExempt, type MatchParts, ruleMatches } from '../../../src/admission/webhooks/matching.js';
import type { WebhookMetrics } from '../../../src/admission/webhooks/metrics.js';
import { type ObjectInterfaces, originalAttributes } from '../../../src/admission/webhooks/versioned-attributes.js';
import { webhookAccessors } from '../../../src/admission/webhooks/webhook-accessors.js';
import { ConfigMaps } from '../../../src/api/kinds/config-map.js';
import { Namespaces } from '../../../src/api/kinds/namespace.js';
import type { ValidatingWebhook } from '../../../src/api/kinds/webhook-configuration.js';
import { type ApiObject, resourceType } from '../../../src/api/object.js';
import { systemClock } from '../../../src/runtime/clock.js';
import { TurnTaking } from '../../../src/runtime/turn-taking.js';

const all = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] };
const pods = { group: '', version: 'v1', plural: 'pods' };
const nodes = { group: '', version: 'v1', plural: 'nodes' };

describe('a rule matches a request', () => {
  const create = { operation: 'CREATE', subresource: undefined, namespace: 'ns' };
  test.each([
    ['with wildcards', all, pods, create, true],
    ['not without operations', { ...all, operations: [] }, pods, create, false],
    ['not for another operation', { ...all, operations: ['UPDATE'] }, pods, create, false],
    ['for one of its operations', { ...all, operations: ['UPDATE', 'CREATE'] }, pods, create, true],
    ['of the core group', { ...all, apiGroups: [''] }, pods, create, true],
    ['not of another group', { ...all, apiGroups: ['apps'] }, pods, create, false],
    ['not of another version', { ...all, apiVersions: ['v2'] }, pods, create, false],
    ['for a resource', { ...all, resources: ['pods'] }, pods, create, true],
    [
      'for a resource, not for its subresources',
      { ...all, resources: ['pods'] },
      pods,
      { ...create, subresource: 'status' },
      false,
    ],
    ['for all resources', { ...all, resources: ['*'] }, pods, create, true],
    [
      'for all resources, not for subresources',
      { ...all, resources: ['*'] },
      pods,
      { ...create, subresource: 'status' },
      false,
    ],
    ['for a resource itself by its slash-star', { ...all, resources: ['pods/*'] }, pods, create, true],
    ['for all subresources', { ...all, resources: ['pods/*'] }, pods, { ...create, subresource: 'status' }, true],
    [
      'for one subresource of all resources',
      { ...all, resources: ['*/status'] },
      pods,
      { ...create, subresource: 'status' },
      true,
    ],
    [
      'for one subresource of all resources, not for the resource',
      { ...all, resources: ['*/status'] },
      pods,
      create,
      false,
    ],
    ['not in another letter case', { ...all, resources: ['Pods'] }, pods, create, false],
    ['for namespaced objects', { ...all, scope: 'Namespaced' }, pods, create, true],
    [
      'not for cluster-scoped objects with scope Namespaced',
      { ...all, scope: 'Namespaced' },
      nodes,
      { ...create, namespace: '' },
      false,
    ],
    ['not for namespaced objects with scope Cluster', { ...all, scope: 'Cluster' }, pods, create, false],
    ['for cluster-scoped objects', { ...all, scope: 'Cluster' }, nodes, { ...create, namespace: '' }, true],
    [
      'for namespaces with scope Cluster',
      { ...all, scope: 'Cluster' },
      { ...pods, plural: 'namespaces' },
      create,
      true,
    ],
    [
      'not for namespaces with scope Namespaced',
      { ...all, scope: 'Namespaced' },
      { ...pods, plural: 'namespaces' },
      create,
      false,
    ],
    ['not with an unknown scope', { ...all, scope: 'Other' }, pods, create, false],
  ])('%s', (_, rule, resource, request, expected) => {
    expect(ruleMatches(rule, resource, request)).toBe(expected);
  });
});

const map = (labels: Record<string, string> = {}): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'm', namespace: 'ns', labels },
});
const attributes = (given: Partial<AdmissionAttributes> = {}): AdmissionAttributes => ({
  operation: 'CREATE',
  resource: ConfigMaps,
  subresource: undefined,
  key: { namespace: 'ns', name: 'm' },
  object: map(),
  previous: undefined,
  user: { username: 'u', groups: [] },
  dryRun: false,
  warn: () => {},
  ...given,
});

const kinds: ObjectInterfaces = {
  equivalents: () => [],
  convert: async (object, { kind }) => ({ ...object, apiVersion: `${kind.group}/${kind.version}` }),
  toJson: (object) => object as never,
  readPatch: () => ({ isEmpty: true, apply: async (object) => ({ object, isChanged: false }) }),
  hasFineTimes: () => true,
  same: (a, b) => a === b,
};
const namespaces: Readonly<Record<string, ApiObject>> = {
  ns: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns', labels: { env: 'test' } } },
};
const parts: MatchParts = {
  kinds,
  objects: {
    get: async () => undefined,
    hasAny: async () => true,
    list: async () => Object.values(namespaces) as never,
  },
  evaluate: async () => ({ holds: true, errors: 0 }),
  clock: systemClock,
};
const ask = async (webhook: Partial<ValidatingWebhook>, request = attributes(), given: Partial<MatchParts> = {}) => {
  const [hook] = webhookAccessors([
    {
      apiVersion: '',
      kind: '',
      metadata: { name: 'c' },
      webhooks: [
        {
          name: 'h.example.com',
          clientConfig: {},
          rules: [all],
          namespaceSelector: {},
          objectSelector: {},
          failurePolicy: 'Fail',
          matchPolicy: 'Equivalent',
          ...webhook,
        },
      ],
    },
  ]);
  if (hook === undefined) throw new Error('no hook');
  const matching = { ...parts, type: 'validating' as const, turns: new TurnTaking(), ...given };
  return invocationOf(hook, request, originalAttributes(request), matching);
};

const selects = (key: string, value: string) => ({ matchLabels: { [key]: value } });

describe('a webhook is called', () => {
  const namespace = (labels: Record<string, string>, operation: 'CREATE' | 'DELETE' = 'CREATE') => {
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns', labels } };
    return attributes({
      operation,
      resource: Namespaces,
      key: { name: 'ns' },
      object: operation === 'DELETE' ? undefined : object,
      previous: operation === 'DELETE' ? object : undefined,
    });
  };
  test.each([
    ['without selectors', {}, attributes(), true],
    ['if the labels of the namespace match', { namespaceSelector: selects('env', 'test') }, attributes(), true],
    [
      'not if the labels of the namespace do not match',
      { namespaceSelector: selects('env', 'live') },
      attributes(),
      false,
    ],
    [
      'for a cluster-scoped object, whatever the namespaceSelector',
      { namespaceSelector: selects('env', 'live') },
      attributes({ resource: { ...ConfigMaps, namespaced: false }, key: { name: 'm' } }),
      true,
    ],
    [
      'for a new namespace by its own labels',
      { namespaceSelector: selects('env', 'new') },
      namespace({ env: 'new' }),
      true,
    ],
    [
      'for a deleted namespace by its stored labels',
      { namespaceSelector: selects('env', 'test') },
      namespace({ env: 'new' }, 'DELETE'),
      true,
    ],
    [
      'if the labels of the object match',
      { objectSelector: selects('a', 'b') },
      attributes({ object: map({ a: 'b' }) }),
      true,
    ],
    [
      'if the labels of the old object match',
      { objectSelector: selects('a', 'b') },
      attributes({ previous: map({ a: 'b' }) }),
      true,
    ],
    ['not if the labels of neither object match', { objectSelector: selects('a', 'b') }, attributes(), false],
    ['not without rules', { rules: [] }, attributes(), false],
  ])('%s', async (_, webhook, request, expected) => {
    expect((await ask(webhook, request)) !== undefined).toBe(expected);
  });

  test('a missing namespace is reported only if the rules and the objectSelector match', async () => {
    const request = attributes({ key: { namespace: 'gone', name: 'm' } });
    const selector = { namespaceSelector: selects('env', 'test') };
    await expect(ask(selector, request)).rejects.toThrow('namespaces "gone" not found');
    expect(await ask({ ...selector, rules: [] }, request)).toBeUndefined();
    expect(await ask({ ...selector, objectSelector: selects('x', 'y') }, request)).toBeUndefined();
  });
});

describe('equivalent versions', () => {
  const other = (version: string) => ({
    resource: resourceType({ group: 'g', version, plural: 'ws', kind: 'W', namespaced: true }),
    kind: { group: 'g', version, kind: 'W' },
  });
  const with2 = { kinds: { ...kinds, equivalents: () => [other('v2'), other('v3')] } };
  const rule = (version: string) => ({ ...all, apiGroups: ['g'], apiVersions: [version] });
  test.each([
    ['the first matching rule decides, then the order of versions', { rules: [rule('v3'), rule('v2')] }, 'v3'],
    ['a wildcard version selects the first equivalent version', { rules: [rule('*')] }, 'v2'],
    ['the version of the request takes precedence', { rules: [rule('v2'), all] }, 'v1'],
    ['no version matches', { rules: [rule('v9')] }, undefined],
    ['matchPolicy Exact allows no other version', { rules: [rule('v2')], matchPolicy: 'Exact' }, undefined],
  ])('%s', async (_, webhook, version) => {
    expect((await ask(webhook, attributes(), with2))?.as.resource.version).toBe(version);
  });
});

describe('match conditions', () => {
  const conditions = [{ name: 'c', expression: 'E' }];
  const verdict = (given: { readonly holds: boolean } | { readonly failures: readonly string[] }) => ({
    evaluate: async () => ({ ...given, errors: 'failures' in given ? given.failures.length : 0 }),
  });
  test.each([
    ['that hold call the webhook', {}, { holds: true }, true],
    ['that do not hold exclude the webhook', {}, { holds: false }, false],
    [
      'that fail with failurePolicy Ignore exclude the webhook',
      { failurePolicy: 'Ignore' },
      { failures: ['bad'] },
      false,
    ],
  ])('%s', async (_, webhook, given, expected) => {
    expect((await ask({ matchConditions: conditions, ...webhook }, attributes(), verdict(given))) !== undefined).toBe(
      expected,
    );
  });

  test.each([
    [['bad'], 'configmaps "m" is forbidden: bad'],
    [['bad', 'worse'], 'configmaps "m" is forbidden: [bad, worse]'],
    [['bad', 'worse', 'bad'], 'configmaps "m" is forbidden: [bad, worse]'],
    [['bad', 'bad'], 'configmaps "m" is forbidden: bad'],
  ])('that fail with %j refuse the request', async (failures, text) => {
    await expect(ask({ matchConditions: conditions }, attributes(), verdict({ failures }))).rejects.toMatchObject({
      code: 403,
      message: text,
    });
  });

  test('that fail are reported without a name when a collection is deleted', async () => {
    const request = attributes({ operation: 'DELETE', previous: map(), isCollectionDelete: true });
    await expect(ask({ matchConditions: conditions }, request, verdict({ failures: ['bad'] }))).rejects.toMatchObject({
      message: 'configmaps is forbidden: bad',
    });
  });

  test.each<[Parameters<typeof verdict>[0], 'Fail' | 'Ignore', string]>([
    [{ holds: true }, 'Fail', '0 false'],
    [{ holds: false }, 'Fail', '0 true'],
    [{ failures: ['bad', 'worse'] }, 'Fail', '2 false'],
    [{ failures: ['bad'] }, 'Ignore', '1 true'],
  ])('with the verdict %j and failurePolicy %s are counted', async (given, failurePolicy, expected) => {
    const counted: string[] = [];
    const metrics: WebhookMetrics = {
      conditionsEvaluated: ({ webhook, type, operation, verdict, excluded }) =>
        counted.push(`${webhook} ${type} ${operation} ${verdict.errors} ${excluded}`),
      called: () => {},
      failedOpen: () => {},
    };
    await ask({ matchConditions: conditions, failurePolicy }, attributes(), { ...verdict(given), metrics }).catch(
      () => {},
    );
    expect(counted).toEqual([`h.example.com validating CREATE ${expected}`]);
  });

  test('see the objects in the version that the webhook asks for', async () => {
    const seen: unknown[] = [];
    const v2 = {
      resource: { group: 'g', version: 'v2', plural: 'ws' },
      kind: { group: 'g', version: 'v2', kind: 'W' },
    };
    await ask({ matchConditions: conditions, rules: [{ ...all, apiGroups: ['g'] }] }, attributes({ previous: map() }), {
      kinds: { ...kinds, equivalents: () => [v2] },
      evaluate: async (_conditions, { seen: found }) => {
        seen.push(found);
        return { holds: true, errors: 0 };
      },
    });
    expect(seen).toMatchObject([{ object: { apiVersion: 'g/v2' }, previous: { apiVersion: 'g/v2' } }]);
  });
});

test.each([
  ['admissionregistration.k8s.io', 'validatingwebhookconfigurations', true],
  ['admissionregistration.k8s.io', 'mutatingadmissionpolicybindings', true],
  ['admissionregistration.k8s.io', 'somethingelse', false],
  ['example.com', 'validatingwebhookconfigurations', false],
])('%s %s is exempt from webhooks: %s', (group, plural, expected) => {
  expect(isExempt({ resource: { ...ConfigMaps, group, plural } }, 'k8s.io')).toBe(expected);
});

test('a webhook is identified by its configuration, its name and its index among equal names', () => {
  const webhook = (name: string) => ({ name, clientConfig: {} });
  const configuration = (name: string, names: string[]) => ({
    apiVersion: '',
    kind: '',
    metadata: { name },
    webhooks: names.map(webhook),
  });
  const list = [configuration('a', ['x', 'y', 'x']), configuration('b', ['x'])];
  expect(webhookAccessors(list).map(({ id }) => id)).toEqual(['a/x/0', 'a/y/0', 'a/x/1', 'b/x/0']);
  expect(webhookAccessors(list)[0]).toBe(webhookAccessors(list)[0]);
});
