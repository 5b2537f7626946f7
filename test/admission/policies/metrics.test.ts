import { expect, test } from 'vitest';
import { policyMetrics } from '../../../src/admission/policies/metrics.js';
import { openMetrics } from '../../../src/runtime/metrics.js';

const check = { policy: 'p', binding: 'b', seconds: 0.02 };

test.each([
  [undefined, 'no_error'],
  ['compilation failed: ERROR', 'compile_error'],
  ['validation failed due to running out of cost budget, no further validation rules will be run', 'out_of_budget'],
  ["expression 'object.x' resulted in error: no such key: x", 'invalid_error'],
])('a mutation with the failure %s is counted as %s', async (failure, type) => {
  const metrics = openMetrics();
  policyMetrics(metrics).mutated({ ...check, failure });
  const { text } = await metrics.expose();
  const labels = `policy="p",policy_binding="b",error_type="${type}"`;
  expect(text).toContain(`apiserver_mutating_admission_policy_check_total{${labels}} 1\n`);
  expect(text).toContain(`apiserver_mutating_admission_policy_check_duration_seconds_sum{${labels}} 0.02\n`);
});

test('a failed validation is counted by its enforcement action', async () => {
  const metrics = openMetrics();
  policyMetrics(metrics).validated({ ...check, failure: 'failed expression: false' }, 'warn');
  const { text } = await metrics.expose();
  const labels = 'policy="p",policy_binding="b",error_type="invalid_error",enforcement_action="warn"';
  expect(text).toContain(`apiserver_validating_admission_policy_check_total{${labels}} 1\n`);
  expect(text).toContain(`apiserver_validating_admission_policy_check_duration_seconds_count{${labels}} 1\n`);
});
