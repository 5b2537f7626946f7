import { expect, test } from 'vitest';
import type { AdmissionStep } from '../../../src/admission/admission-step.js';
import { AdmissionChain } from '../../../src/admission/chain.js';
import { ConfigMaps } from '../../../src/api/kinds/config-map.js';
import type { ApiObject, ManagedFieldsEntry, ResourceType } from '../../../src/api/object.js';
import { runMutatingAdmission } from '../../../src/apiserver/write/mutating-admission.js';

const good: ManagedFieldsEntry = { manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1' };
const configMap = (managedFields?: readonly ManagedFieldsEntry[]): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', ...(managedFields === undefined ? {} : { managedFields }) },
});

test.each([
  ['valid entries', [good], [], [], []],
  ['none', [good], undefined, undefined, []],
  ['entries without an operation', [good], [{ apiVersion: 'v1' }], [good], ['operation must be `Apply` or `Update`']],
  [
    'invalid entries where there were none',
    undefined,
    [{ ...good, fieldsType: '' }],
    undefined,
    ['missing fieldsType in managed fields entry 0'],
  ],
] as const)('managed fields stay valid after admission that leaves %s', async (_, before, left, expected, problems) => {
  const warnings: string[] = [];
  const step: AdmissionStep = { name: 's', handles: () => true, mutate: async () => configMap(left) };
  const object = await runMutatingAdmission(
    { admission: new AdmissionChain([step]) },
    {
      operation: 'CREATE',
      resource: ConfigMaps as ResourceType<ApiObject>,
      subresource: undefined,
      key: { namespace: 'ns', name: 'a' },
      object: configMap(before),
      previous: undefined,
      user: { username: 'u', groups: [] },
      dryRun: false,
      warn: (text) => warnings.push(text),
    },
  );
  expect(object).toEqual(configMap(expected));
  expect(warnings).toEqual(
    problems.map(
      (problem) =>
        `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${problem}`,
    ),
  );
});
