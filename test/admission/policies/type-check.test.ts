import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CustomResourceDefinition } from '../../../src/api/kinds/custom-resource-definition.js';
import {
  ValidatingAdmissionPolicies,
  type ValidatingAdmissionPolicySpec,
  type ValidatingAdmissionPolicyStatus,
} from '../../../src/api/kinds/validating-admission-policy.js';
import { install } from '../../../src/testing/install.js';
import { type TestServer, testServer } from '../../../src/testing/test-server.js';
import { until } from '../../../src/testing/until.js';
import { expectShort } from '../../processor-time.js';

/**
 * Policies, and the status that the controller manager of Kubernetes 1.36.3 wrote for them; without the numbers that it
 * adds to kinds.
 */
const recorded = JSON.parse(readFileSync(new URL('type-warnings.json.txt', import.meta.url), 'utf8')) as {
  readonly definition: CustomResourceDefinition;
  readonly policies: readonly {
    readonly name: string;
    readonly spec: ValidatingAdmissionPolicySpec;
    readonly warnings: readonly { readonly fieldRef: string; readonly warning: string }[];
  }[];
};

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ controllers: ['crd-names', 'crd-established', 'policy-status'] });
  await install(server.client, [recorded.definition]);
});
afterAll(() => server.stop());

let made = 0;
async function statusOf(spec: ValidatingAdmissionPolicySpec): Promise<ValidatingAdmissionPolicyStatus | undefined> {
  const policies = server.client.resource(ValidatingAdmissionPolicies);
  const { apiVersion, kind } = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: ValidatingAdmissionPolicies.kind,
  };
  const { name = '' } = (await policies.create({ apiVersion, kind, metadata: { name: `p-${made++}` }, spec })).metadata;
  const found = await until(policies, { name }, (policy) => policy?.status?.observedGeneration === 1);
  return found?.status;
}

test.each(recorded.policies)('$name', async ({ spec, warnings }) => {
  expect(await statusOf(spec)).toEqual({
    observedGeneration: 1,
    typeChecking: warnings.length === 0 ? {} : { expressionWarnings: warnings },
  });
});

const about = (apiGroups: string[], resources: string[], expression: string): ValidatingAdmissionPolicySpec => ({
  matchConstraints: { resourceRules: [{ apiGroups, apiVersions: ['v1'], resources, operations: ['*'] }] },
  validations: [{ expression }],
});

test.each([
  [['tc.example.com'], ['widgets'], "authorizer.requestResource.check('get').allowed()"],
  [[''], ['nodes'], "object.status.capacity['cpu'] == '1'"],
])('a correct expression causes no warning: %j %j %s', async (groups, resources, expression) => {
  expect(await statusOf(about(groups, resources, expression))).toEqual({ observedGeneration: 1, typeChecking: {} });
});

test('a rule is checked against at most ten kinds', async () => {
  const resources = ['bindings', 'configmaps', 'events', 'namespaces', 'nodes', 'pods', 'secrets', 'serviceaccounts'];
  const spec = about([''], [...resources, 'clusterroles', 'leases', 'roles'], 'object.nope == 1');
  const status = await statusOf(spec);
  const kinds = status?.typeChecking?.expressionWarnings?.[0]?.warning.match(/, Kind=\w+/g);
  expect(kinds).toHaveLength(10);
});

test('warnings are truncated to what the status of the policy can hold', async () => {
  const wrong = Array.from({ length: 50 }, (_, at) => `object.nope${at} == 1`).join(' || ');
  const spec = about([''], ['configmaps', 'nodes', 'pods', 'secrets'], wrong);
  const status = await statusOf({ ...spec, validations: Array.from({ length: 64 }, () => ({ expression: wrong })) });
  const warnings = status?.typeChecking?.expressionWarnings ?? [];
  expect(JSON.stringify(warnings).length).toBeLessThan(100_000);
  expect(warnings[0]?.warning).toMatch(/^\/v1, Kind=ConfigMap: ERROR/);
  expect(warnings.at(-1)?.warning).toMatch(/Too many problems; the rest are not listed\.\n$/);
});

test('a rule of many groups, versions and resources is checked in bounded time', async () => {
  const many = (what: string): string[] => Array.from({ length: 250 }, (_, index) => `${what}${index}`);
  const rule = { apiGroups: ['', ...many('g')], apiVersions: ['v1', ...many('v')], resources: ['pods', ...many('r')] };
  const spec: ValidatingAdmissionPolicySpec = {
    matchConstraints: { resourceRules: [{ ...rule, operations: ['*'] }] },
    validations: [{ expression: 'object.nope == 1' }],
  };
  let status: ValidatingAdmissionPolicyStatus | undefined;
  await expectShort(1_000, async () => {
    status = await statusOf(spec);
  });
  expect(status?.typeChecking?.expressionWarnings?.[0]?.warning).toMatch(/^\/v1, Kind=Pod: ERROR: .*nope/);
});

test('a changed policy is checked again', async () => {
  const policies = server.client.resource(ValidatingAdmissionPolicies);
  await statusOf(about([''], ['configmaps'], 'object.nope == 1'));
  const name = `p-${made - 1}`;
  const body = { spec: { validations: [{ expression: 'has(object.data)' }] } };
  await policies.patch({ name }, { type: 'merge', body });
  const found = await until(policies, { name }, (policy) => policy?.status?.observedGeneration === 2);
  expect(found?.status).toEqual({ observedGeneration: 2, typeChecking: {} });
  expect(found?.metadata.managedFields).toContainEqual(
    expect.objectContaining({ manager: 'validatingadmissionpolicy-status', operation: 'Apply', subresource: 'status' }),
  );
});
