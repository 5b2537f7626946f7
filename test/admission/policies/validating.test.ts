import { expect, test } from 'vitest';
import type { AdmissionAttributes } from '../../../src/admission/admission-step.js';
import { policyHooks } from '../../../src/admission/policies/hooks.js';
import type { Enforcement, PolicyEvaluation } from '../../../src/admission/policies/metrics.js';
import { type ValidatingParts, validatingPolicies } from '../../../src/admission/policies/validating.js';
import type { ParamKind } from '../../../src/api/kinds/admission-policy.js';
import { type ConfigMap, ConfigMaps } from '../../../src/api/kinds/config-map.js';
import type {
  ValidatingAdmissionPolicyBindingSpec,
  ValidatingAdmissionPolicySpec,
} from '../../../src/api/kinds/validating-admission-policy.js';
import type { ApiObject, JsonObject } from '../../../src/api/object.js';

const configMap = (name: string, data: Readonly<Record<string, string>> = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'n' },
  data,
});
const rules = {
  namespaceSelector: {},
  objectSelector: {},
  resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['*'] }],
};

type Policies = Readonly<Record<string, ValidatingAdmissionPolicySpec>>;
type Bindings = Readonly<Record<string, ValidatingAdmissionPolicyBindingSpec>>;

/** Returns the decisions of policies about the creation of a ConfigMap. */
async function judged(policies: Policies, bindings: Bindings, parameters: readonly ConfigMap[] = []) {
  const named = (name: string, spec: object): ApiObject =>
    ({ apiVersion: 'v1', kind: 'K', metadata: { name }, spec }) as ApiObject;
  const hooks = policyHooks(
    Object.entries(policies).map(([name, spec]) => named(name, { matchConstraints: rules, ...spec })),
    Object.entries(bindings).map(([name, spec]) => named(name, spec)),
  );
  const records: Record<string, string> = {};
  const warnings: string[] = [];
  const checks: string[] = [];
  const step = validatingPolicies({
    hooks: () => hooks,
    kinds: {
      equivalents: () => [
        {
          resource: { group: '', version: 'v2', plural: 'configmaps' },
          kind: { group: '', version: 'v2', kind: 'ConfigMap' },
        },
      ],
      convert: async (object: ApiObject) => object,
      toJson: (object: ApiObject) => object as unknown as JsonObject,
    },
    objects: { get: async () => ({ metadata: { name: 'n' } }), list: async () => [] },
    authorizer: { authorize: async () => ({ verdict: 'allow', reason: '' }) },
    parameters: ({ kind }: ParamKind) =>
      kind === 'ConfigMap'
        ? {
            namespaced: true,
            plural: 'configmaps',
            get: async ({ name }: { readonly name: string }) =>
              parameters.find(({ metadata }) => metadata.name === name),
            list: async () => parameters,
          }
        : undefined,
    api: 'k8s.io',
    metrics: {
      validated: ({ policy, binding, failure }: PolicyEvaluation, action: Enforcement) =>
        checks.push(`${policy} ${binding} ${action}: ${failure}`),
    },
  } as unknown as ValidatingParts);
  const attributes: AdmissionAttributes = {
    operation: 'CREATE',
    resource: ConfigMaps,
    subresource: undefined,
    key: { namespace: 'n', name: 'a' },
    object: configMap('a', { x: '<1>' }),
    previous: undefined,
    user: { username: 'alice', groups: [] },
    dryRun: false,
    warn: (text) => void warnings.push(text),
    annotate: (key, value) => {
      records[key] ??= value;
    },
  };
  const denial = step.handles(attributes)
    ? await step.validate?.(attributes)?.catch((error: Error) => error.message)
    : undefined;
  return { denial, records, warnings, checks };
}

const no = { validations: [{ expression: 'false', messageExpression: '"x is " + object.data.x' }] };
const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };

test('an audited failure is recorded as Go encodes it, and only the first one is kept', async () => {
  const { denial, records, warnings } = await judged(
    { p: no },
    {
      b: { policyName: 'p', validationActions: ['Audit', 'Warn'] },
      c: { policyName: 'p', validationActions: ['Audit'] },
    },
  );
  expect(denial).toBeUndefined();
  expect(warnings).toEqual([`Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': x is <1>`]);
  expect(records).toEqual({
    'validation.policy.admission.k8s.io/validation_failure':
      '[{"message":"x is \\u003c1\\u003e","policy":"p","binding":"b","expressionIndex":0,"validationActions":["Audit","Warn"]}]',
  });
});

test('failed validations are counted by enforcement action, and ignored failures as allow', async () => {
  const failing = { validations: [{ expression: 'object.data.y == "1"' }, { expression: 'true' }] };
  const { checks } = await judged(
    { p: no, q: { ...failing, failurePolicy: 'Ignore' }, r: { validations: [{ expression: 'true' }] } },
    {
      b: { policyName: 'p', validationActions: ['Audit', 'Deny'] },
      c: { policyName: 'q', validationActions: ['Deny'] },
      d: { policyName: 'r', validationActions: ['Deny'] },
    },
  );
  expect(checks).toEqual([
    'p b audit: x is <1>',
    'p b deny: x is <1>',
    `q c allow: expression 'object.data.y == "1"' resulted in error: no such key: y`,
  ]);
});

test('audit annotations of all parameters are joined, deduplicated and cut at 10 KiB each', async () => {
  const annotations = [
    { key: 'from', valueExpression: '"from " + params.data.x' },
    { key: 'long', valueExpression: 'params.data.long + ""' },
  ];
  const { records } = await judged(
    { p: { paramKind, auditAnnotations: annotations } },
    {
      b: { policyName: 'p', paramRef: { selector: {}, parameterNotFoundAction: 'Deny' }, validationActions: ['Deny'] },
    },
    ['1', '2', '1'].map((x, at) => configMap(`p${at}`, { x, long: 'l'.repeat(20_000) })),
  );
  expect(records).toEqual({ 'p/from': 'from 1, from 2', 'p/long': 'l'.repeat(10_240) });
});

test.each<[string, Policies, Bindings, string | undefined]>([
  [
    'a policy without a binding denies nothing',
    { p: no },
    { b: { policyName: 'q', validationActions: ['Deny'] } },
    undefined,
  ],
  [
    'a policy for another version sees that version, and its conditions the requested resource',
    {
      p: {
        matchConstraints: {
          ...rules,
          resourceRules: [{ ...rules.resourceRules[0], apiVersions: ['v2'] }],
          matchPolicy: 'Equivalent',
        },
        matchConditions: [
          { name: 'c', expression: 'request.resource.version == "v1" && request.kind.version == "v2"' },
        ],
        validations: [
          { expression: 'request.resource.version == "v1"', messageExpression: 'request.resource.version' },
        ],
      },
    },
    { b: { policyName: 'p', validationActions: ['Deny'] } },
    `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: v2`,
  ],
  [
    'the denial of the first policy by name is reported',
    { p: no, q: no },
    { a: { policyName: 'q', validationActions: ['Deny'] }, b: { policyName: 'p', validationActions: ['Deny'] } },
    `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: x is <1>`,
  ],
  [
    'a paramKind that is not served denies',
    { p: { ...no, paramKind: { apiVersion: 'example.com/v1', kind: 'Limit' } } },
    { b: { policyName: 'p', validationActions: ['Warn'] } },
    `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Limit'`,
  ],
  [
    'a paramKind that is not served allows with failurePolicy Ignore',
    { p: { ...no, failurePolicy: 'Ignore', paramKind: { apiVersion: 'example.com/v1', kind: 'Limit' } } },
    { b: { policyName: 'p', validationActions: ['Deny'] } },
    undefined,
  ],
  [
    'missing parameters deny with parameterNotFoundAction Deny',
    { p: { ...no, paramKind } },
    { b: { policyName: 'p', paramRef: { name: 'x', parameterNotFoundAction: 'Deny' }, validationActions: ['Warn'] } },
    `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed to configure binding: no params found for policy binding with \`Deny\` parameterNotFoundAction`,
  ],
  [
    'missing parameters allow with parameterNotFoundAction Allow',
    { p: { ...no, paramKind } },
    { b: { policyName: 'p', paramRef: { name: 'x', parameterNotFoundAction: 'Allow' }, validationActions: ['Deny'] } },
    undefined,
  ],
])('%s', async (_, policies, bindings, denial) => {
  expect((await judged(policies, bindings)).denial).toBe(denial);
});
