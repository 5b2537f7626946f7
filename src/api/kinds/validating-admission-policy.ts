import type { Condition } from '../conditions.js';
import { type ApiObject, resourceType } from '../object.js';
import { type AdmissionPolicyBindingSpec, type AdmissionPolicySpec, policyGroup } from './admission-policy.js';

/** Rules in CEL for written objects (KEP-3488). Takes effect only through a binding. */
export interface ValidatingAdmissionPolicy extends ApiObject {
  readonly spec?: ValidatingAdmissionPolicySpec;
  readonly status?: ValidatingAdmissionPolicyStatus;
}

/** Members with a default are present in stored objects. */
export interface ValidatingAdmissionPolicySpec extends AdmissionPolicySpec {
  readonly validations?: readonly Validation[];
  readonly auditAnnotations?: readonly AuditAnnotation[];
}

/** A condition that must hold. */
export interface Validation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  /** `Forbidden`, `Invalid` (the default) or `RequestEntityTooLarge`. */
  readonly reason?: string | null;
}

/** An audit annotation: an expression in CEL whose text is recorded under `POLICY/key`. */
export interface AuditAnnotation {
  readonly key: string;
  /** The expression; null or blank results are not recorded. */
  readonly valueExpression: string;
}

/** The result of checking the policy's expressions against the types of the resources it matches. */
export interface ValidatingAdmissionPolicyStatus {
  readonly observedGeneration?: number;
  readonly typeChecking?: { readonly expressionWarnings?: readonly ExpressionWarning[] } | null;
  readonly conditions?: readonly Condition[];
}

/** A type error in one expression, for the types of the resources that the policy matches. */
export interface ExpressionWarning {
  /** JSON path of the expression's field: `spec.validations[0].expression`. */
  readonly fieldRef: string;
  readonly warning: string;
}

/** Puts a policy into effect, with its parameters. */
export interface ValidatingAdmissionPolicyBinding extends ApiObject {
  readonly spec?: ValidatingAdmissionPolicyBindingSpec;
}

/** The spec of a binding, with the actions for violations of the policy. */
export interface ValidatingAdmissionPolicyBindingSpec extends AdmissionPolicyBindingSpec {
  /** The actions for a validation that is false: `Deny`, `Warn`, `Audit`. */
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
