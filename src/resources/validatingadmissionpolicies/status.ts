import type { Condition } from '../../api/conditions.js';
import { trimSpace } from '../../api/go-text.js';
import type { ExpressionWarning, ValidatingAdmissionPolicy } from '../../api/kinds/validating-admission-policy.js';
import { conditionReason, qualifiedName } from '../../api/names.js';
import {
  child,
  duplicate,
  eachInvalid,
  index,
  invalid,
  notSupportedWord,
  ofEach,
  required,
  tooLong,
  type Violation,
} from '../../api/violations.js';

const statuses = ['False', 'True', 'Unknown'];
const maxReason = 1024;
const maxMessage = 32 * 1024;

/** What is wrong with a policy's status. */
export function statusViolations({ status = {} }: ValidatingAdmissionPolicy): readonly Violation[] {
  const { typeChecking, conditions } = status;
  const seen = new Set<string>();
  return [
    ...ofEach(typeChecking?.expressionWarnings ?? [], (one, i) =>
      warningViolations(one, index('status.typeChecking.expressionWarnings', i)),
    ),
    ...ofEach(conditions ?? [], (condition, i) => {
      const path = index('status.conditions', i);
      const repeated = seen.has(condition.type);
      seen.add(condition.type);
      return [
        ...(repeated ? [duplicate(child(path, 'type'), condition.type)] : []),
        ...conditionViolations(condition, path),
      ];
    }),
  ];
}

const warningViolations = ({ fieldRef = '', warning = '' }: ExpressionWarning, path: string): readonly Violation[] => [
  ...(warning === '' ? [required(child(path, 'warning'))] : []),
  ...(trimSpace(fieldRef) === '' ? [required(child(path, 'fieldRef'))] : []),
];

/** What is wrong with a condition as metav1 has it. */
function conditionViolations(
  { type = '', status = '', observedGeneration = 0, lastTransitionTime, reason = '', message = '' }: Condition,
  path: string,
): readonly Violation[] {
  const at = (member: string): string => child(path, member);
  return [
    ...eachInvalid(at('type'), type, qualifiedName(type)),
    ...(statuses.includes(status) ? [] : [notSupportedWord(at('status'), status, statuses)]),
    ...(observedGeneration < 0
      ? [invalid(at('observedGeneration'), observedGeneration, 'must be greater than or equal to zero')]
      : []),
    ...(lastTransitionTime ? [] : [required(at('lastTransitionTime'))]),
    ...(reason === '' ? [required(at('reason'))] : eachInvalid(at('reason'), reason, conditionReason(reason))),
    ...(Buffer.byteLength(reason) > maxReason ? [tooLong(at('reason'), maxReason)] : []),
    ...(Buffer.byteLength(message) > maxMessage ? [tooLong(at('message'), maxMessage)] : []),
  ];
}
