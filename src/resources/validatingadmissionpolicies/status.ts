import { trimSpace } from '../../api/go-text.js';
import type { ExpressionWarning, ValidatingAdmissionPolicy } from '../../api/kinds/validating-admission-policy.js';
import type { Steps } from '../../api/steps.js';
import { child, index, invalid, required, type Violation, validateEachInSteps } from '../../api/violations.js';
import { conditionsViolations } from '../condition-rules.js';
import { jsonPathFault } from '../customresources/json-path.js';

/** Validates the status of a policy. */
export function* statusViolations({ status = {} }: ValidatingAdmissionPolicy): Steps<readonly Violation[]> {
  return [
    ...(yield* validateEachInSteps(status.typeChecking?.expressionWarnings ?? [], (one, i) =>
      warningViolations(one, index('status.typeChecking.expressionWarnings', i)),
    )),
    ...(yield* conditionsViolations(status.conditions, 'status.conditions')),
  ];
}

const warningViolations = ({ fieldRef = '', warning = '' }: ExpressionWarning, path: string): readonly Violation[] => [
  ...(warning === '' ? [required(child(path, 'warning'))] : []),
  ...pathViolations(trimSpace(fieldRef), child(path, 'fieldRef')),
];

function pathViolations(fieldRef: string, path: string): readonly Violation[] {
  if (fieldRef === '') return [required(path)];
  const fault = jsonPathFault(fieldRef);
  return fault === undefined ? [] : [invalid(path, fieldRef, `invalid JSONPath: ${fault}`)];
}
