import type { Condition } from '../conditions.js';
import { type ApiObject, resourceType } from '../object.js';
import { type AdmissionPolicyBindingSpec, type AdmissionPolicySpec, policyGroup } from './admission-policy.js';

/** Rules in CEL about what is written (KEP-3488). Nothing is judged by them until a binding says so. */
export interface ValidatingAdmissionPolicy extends ApiObject {
  readonly spec?: ValidatingAdmissionPolicySpec;
  readonly status?: ValidatingAdmissionPolicyStatus;
}

/** Members with a default are present in stored objects. */
export interface ValidatingAdmissionPolicySpec extends AdmissionPolicySpec {
  readonly validations?: readonly Validation[];
  readonly auditAnnotations?: readonly AuditAnnotation[];
}

/** What must be true. */
export interface Validation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  /** `Forbidden`, `Invalid` (the default) or `RequestEntityTooLarge`. */
  readonly reason?: string | null;
}

/** A note for the audit log: an expression in CEL whose text is recorded under `POLICY/key`. */
export interface AuditAnnotation {
  readonly key: string;
  /** What is null or blank is not recorded. */
  readonly valueExpression: string;
}

/** What was found when the expressions of the policy were checked against the types of what it matches. */
export interface ValidatingAdmissionPolicyStatus {
  readonly observedGeneration?: number;
  readonly typeChecking?: { readonly expressionWarnings?: readonly ExpressionWarning[] } | null;
  readonly conditions?: readonly Condition[];
}

/** What is wrong with one expression, seen the types of what the policy matches. */
export interface ExpressionWarning {
  /** JSON path of the expression's field: `spec.validations[0].expression`. */
  readonly fieldRef: string;
  readonly warning: string;
}

/** Puts a policy into force, with its parameters. */
export interface ValidatingAdmissionPolicyBinding extends ApiObject {
  readonly spec?: ValidatingAdmissionPolicyBindingSpec;
}

/** As of every binding, and what follows from what the policy finds. */
export interface ValidatingAdmissionPolicyBindingSpec extends AdmissionPolicyBindingSpec {
  /** What follows from a validation that is false: `Deny`, `Warn`, `Audit`. */
  readonly validationActions?: readonly string[];
}

/** The resource `validatingadmissionpolicies` of `admissionregistration.k8s.io/v1`, cluster-scoped. */
export const ValidatingAdmissionPolicies = resourceType<ValidatingAdmissionPolicy>({
  group: policyGroup,
  version: 'v1',
  plural: 'validatingadmissionpolicies',
  kind: 'ValidatingAdmissionPolicy',
  namespaced: false,
  categories: ['api-extensions'],
});

/** The resource `validatingadmissionpolicybindings` of `admissionregistration.k8s.io/v1`, cluster-scoped. */
export const ValidatingAdmissionPolicyBindings = resourceType<ValidatingAdmissionPolicyBinding>({
  group: policyGroup,
  version: 'v1',
  plural: 'validatingadmissionpolicybindings',
  kind: 'ValidatingAdmissionPolicyBinding',
  namespaced: false,
  categories: ['api-extensions'],
});
