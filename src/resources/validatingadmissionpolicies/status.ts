import { trimSpace } from '../../api/go-text.js';
import type { ExpressionWarning, ValidatingAdmissionPolicy } from '../../api/kinds/validating-admission-policy.js';
import { child, index, ofEach, required, type Violation } from '../../api/violations.js';
import { conditionsViolations } from '../condition-rules.js';

/** What is wrong with a policy's status. */
export const statusViolations = ({ status = {} }: ValidatingAdmissionPolicy): readonly Violation[] => [
  ...ofEach(status.typeChecking?.expressionWarnings ?? [], (one, i) =>
    warningViolations(one, index('status.typeChecking.expressionWarnings', i)),
  ),
  ...conditionsViolations(status.conditions, 'status.conditions'),
];

const warningViolations = ({ fieldRef = '', warning = '' }: ExpressionWarning, path: string): readonly Violation[] => [
  ...(warning === '' ? [required(child(path, 'warning'))] : []),
  ...(trimSpace(fieldRef) === '' ? [required(child(path, 'fieldRef'))] : []),
];
