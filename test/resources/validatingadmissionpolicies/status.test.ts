import { expect, test } from 'vitest';
import type { ValidatingAdmissionPolicy } from '../../../src/api/kinds/validating-admission-policy.js';
import { runSync } from '../../../src/api/steps.js';
import { statusViolations } from '../../../src/resources/validatingadmissionpolicies/status.js';

const policy: ValidatingAdmissionPolicy = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: 'p' },
};

test.each([
  ['spec.validations[0].expression', []],
  [' ', ['Required value']],
  [' a[ ', ['Invalid value: "a[": invalid JSONPath: unterminated array']],
])('the path of an expression warning: %j', (fieldRef, found) => {
  const status = { typeChecking: { expressionWarnings: [{ fieldRef, warning: 'w' }] } };
  const violations = runSync(statusViolations({ ...policy, status }));
  expect(violations.map(({ body }) => body)).toEqual(found);
  expect(violations.every(({ field }) => field === 'status.typeChecking.expressionWarnings[0].fieldRef')).toBe(true);
});
