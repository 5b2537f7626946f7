import { trimSpace } from '../../api/go-text.js';
import type {
  MutatingAdmissionPolicy,
  Mutation,
  MutationExpression,
} from '../../api/kinds/mutating-admission-policy.js';
import type { Steps } from '../../api/steps.js';
import {
  child,
  index,
  invalid,
  notSupportedTypedString,
  required,
  type Violation,
  validateEachInSteps,
} from '../../api/violations.js';
import { type PolicyCompiler, policyCompiler } from '../../cel/environments/admission.js';
import type { Prepared } from '../../cel/prepare.js';
import { mutatingOperations } from '../admissionpolicies/operations.js';
import { specViolations } from '../admissionpolicies/rules.js';
import { expressionViolations } from '../match-conditions.js';

const patchTypes = ['ApplyConfiguration', 'JSONPatch'];
const reinvocationPolicies = ['IfNeeded', 'Never'];

/** Returns the violations in the spec of a policy, in Kubernetes' order. */
export function* policyViolations(
  { spec = {} }: MutatingAdmissionPolicy,
  previous: MutatingAdmissionPolicy | undefined,
): Steps<readonly Violation[]> {
  const at = (member: string): string => child('spec', member);
  const { paramKind, mutations = [], reinvocationPolicy = '' } = spec;
  const compiler = policyCompiler({ hasParams: Boolean(paramKind), hasVariables: true });
  return [
    ...(yield* specViolations(spec, previous && (previous.spec ?? {}), { compiler, operations: mutatingOperations })),
    ...(mutations.length === 0
      ? [required(at('mutations'), 'mutations must contain at least one item')]
      : yield* validateEachInSteps(mutations, (mutation, i) =>
          mutationViolations(mutation, index(at('mutations'), i), compiler),
        )),
    ...(reinvocationPolicy === ''
      ? [required(at('reinvocationPolicy'))]
      : reinvocationPolicies.includes(reinvocationPolicy)
        ? []
        : [notSupportedTypedString(at('reinvocationPolicy'), reinvocationPolicy, reinvocationPolicies)]),
  ];
}

function* mutationViolations(
  { patchType = '', applyConfiguration, jsonPatch }: Mutation,
  path: string,
  compiler: PolicyCompiler,
): Steps<readonly Violation[]> {
  const configuration = { name: 'applyConfiguration', given: applyConfiguration, compile: compiler.configuration };
  const operations = { name: 'jsonPatch', given: jsonPatch, compile: compiler.operations };
  switch (patchType) {
    case '':
      return [required(child(path, 'patchType'))];
    case 'ApplyConfiguration':
      return yield* unionViolations(configuration, operations, patchType, path);
    case 'JSONPatch':
      return yield* unionViolations(operations, configuration, patchType, path);
    default:
      return [notSupportedTypedString(child(path, 'patchType'), patchType, patchTypes)];
  }
}

/** One of the two members of a mutation. */
interface Member {
  readonly name: string;
  readonly given: MutationExpression | null | undefined;
  compile(expression: string): Steps<Prepared>;
}

function* unionViolations(
  expected: Member,
  other: Member,
  patchType: string,
  path: string,
): Steps<readonly Violation[]> {
  const [expectedAt, otherAt] = [child(path, expected.name), child(path, other.name)];
  return [
    ...(expected.given
      ? yield* expressionOf(expected.given, child(expectedAt, 'expression'), expected.compile)
      : [required(expectedAt, `must be specified when patchType is ${patchType}`)]),
    ...(other.given
      ? [invalid(otherAt, `{${other.name}}`, `must not be specified when patchType is ${patchType}`)]
      : []),
  ];
}

/** Validates an expression; surrounding white space is neither validated nor reported. */
function* expressionOf(
  { expression = '' }: MutationExpression,
  path: string,
  compile: Member['compile'],
): Steps<readonly Violation[]> {
  const trimmed = trimSpace(expression);
  return trimmed === '' ? [required(path)] : yield* expressionViolations(trimmed, path, compile);
}
