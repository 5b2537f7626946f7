import { trimSpace } from '../../api/go-text.js';
import type {
  AuditAnnotation,
  ValidatingAdmissionPolicy,
  Validation,
} from '../../api/kinds/validating-admission-policy.js';
import { qualifiedName } from '../../api/names.js';
import type { JsonObject } from '../../api/object.js';
import type { Steps } from '../../api/steps.js';
import {
  child,
  duplicate,
  eachInvalid,
  index,
  invalid,
  invalidExpression,
  notSupportedTypedString,
  required,
  type Violation,
  validateEachInSteps,
} from '../../api/violations.js';
import { type PolicyCompiler, policyCompiler } from '../../cel/environments/admission.js';
import type { Prepared } from '../../cel/prepare.js';
import { specViolations } from '../admissionpolicies/rules.js';
import { expressionViolations } from '../match-conditions.js';

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const maxAnnotations = 20;
const maxValueExpression = 5 * 1024;

/** Returns the violations in the spec of a policy, in Kubernetes' order. */
export function* policyViolations(
  { metadata, spec = {} }: ValidatingAdmissionPolicy,
  previous: ValidatingAdmissionPolicy | undefined,
): Steps<readonly Violation[]> {
  const at = (member: string): string => child('spec', member);
  const { paramKind, variables = [], validations = [], auditAnnotations = [] } = spec;
  const compiler = policyCompiler({ hasParams: Boolean(paramKind), hasVariables: variables.length > 0 });
  const nothing = 'validations or auditAnnotations must contain at least one item';
  return [
    ...(yield* specViolations(spec, previous && (previous.spec ?? {}), { compiler })),
    ...(validations.length === 0 && auditAnnotations.length === 0
      ? [required(at('validations'), nothing), required(at('auditAnnotations'), nothing)]
      : [
          ...(yield* validateEachInSteps(validations, (validation, i) =>
            validationViolations(validation, index(at('validations'), i), compiler),
          )),
          ...(yield* annotationViolations(auditAnnotations, at('auditAnnotations'), {
            policy: metadata.name ?? '',
            compiler,
          })),
        ]),
  ];
}

function* validationViolations(
  { expression = '', message = '', messageExpression = '', reason }: Validation,
  path: string,
  compiler: PolicyCompiler,
): Steps<readonly Violation[]> {
  const at = (member: string): string => child(path, member);
  const blank = 'must be non-empty if specified';
  return [
    ...(trimSpace(expression) === ''
      ? [required(at('expression'), 'expression is not specified')]
      : yield* expressionViolations(expression, at('expression'), compiler.validation)),
    ...(trimSpace(messageExpression) !== ''
      ? yield* expressionViolations(messageExpression, at('messageExpression'), compiler.message)
      : messageExpression === ''
        ? []
        : [invalid(at('messageExpression'), messageExpression, blank)]),
    ...(message !== '' && trimSpace(message) === ''
      ? [invalid(at('message'), message, blank)]
      : /[\n\r]/.test(trimSpace(message))
        ? [invalid(at('message'), message, 'must not contain line breaks')]
        : []),
    ...(reason === undefined || reason === null || reasons.includes(reason)
      ? []
      : [notSupportedTypedString(at('reason'), reason, reasons)]),
  ];
}

function* annotationViolations(
  annotations: readonly AuditAnnotation[],
  path: string,
  { policy, compiler }: { readonly policy: string; readonly compiler: PolicyCompiler },
): Steps<readonly Violation[]> {
  const seen = new Set<string>();
  return [
    ...(annotations.length > maxAnnotations
      ? [invalid(path, annotations.map(inGo), `must not have more than ${maxAnnotations} auditAnnotations`)]
      : []),
    ...(yield* validateEachInSteps(annotations, function* ({ key = '', valueExpression = '' }, i): Steps<
      readonly Violation[]
    > {
      const keyAt = child(index(path, i), 'key');
      const fullKey = `${policy}/${key}`;
      const repeated = seen.has(key);
      seen.add(key);
      return [
        ...(policy === ''
          ? [invalid(keyAt, key, 'requires metadata.name be non-empty')]
          : eachInvalid(keyAt, fullKey, qualifiedName(fullKey))),
        ...(yield* valueViolations(valueExpression, child(index(path, i), 'valueExpression'), compiler.annotation)),
        ...(repeated ? [duplicate(keyAt, key)] : []),
      ];
    })),
  ];
}

/** Returns the annotation as errors print it, with the names of Go's internal type. */
const inGo = ({ key, valueExpression }: AuditAnnotation): JsonObject => ({
  Key: key,
  ValueExpression: valueExpression,
});

function* valueViolations(
  expression: string,
  path: string,
  compile: (expression: string) => Steps<Prepared>,
): Steps<readonly Violation[]> {
  const trimmed = trimSpace(expression);
  if (trimmed === '') return [required(path, 'valueExpression is not specified')];
  if (Buffer.byteLength(trimmed) > maxValueExpression) {
    return [required(path, `must not exceed ${maxValueExpression} bytes in length`)];
  }
  const prepared = yield* compile(trimmed);
  return prepared.wrong === undefined ? [] : [invalidExpression(path, expression, prepared)];
}
