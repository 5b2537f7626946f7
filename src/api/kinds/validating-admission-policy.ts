import type { Condition } from '../conditions.js';
import { type ApiObject, resourceType } from '../object.js';
import { type AdmissionPolicyBindingSpec, type AdmissionPolicySpec, policyGroup } from './admission-policy.js';

/** Policy in CEL that validates objects on admission (KEP-3488). It has no effect without a binding. */
export interface ValidatingAdmissionPolicy extends ApiObject {
  readonly spec?: ValidatingAdmissionPolicySpec;
  readonly status?: ValidatingAdmissionPolicyStatus;
}

/**
 * Requests that a policy applies to, and how it validates them. Members with a default are present in stored objects.
 */
export interface ValidatingAdmissionPolicySpec extends AdmissionPolicySpec {
  /** Conditions that requests must meet. */
  readonly validations?: readonly Validation[];
  /** Annotations of the audit event of a request. */
  readonly auditAnnotations?: readonly AuditAnnotation[];
}

/** Condition that a request must meet. */
export interface Validation {
  /** CEL expression that must evaluate to true for the request to be admitted. */
  readonly expression: string;
  /** Message of the rejection, if the expression is false. */
  readonly message?: string;
  /** CEL expression for the message of the rejection; if it fails or yields no text, `message` is used. */
  readonly messageExpression?: string;
  /** Reason of the rejection: `Forbidden`, `Invalid` (the default) or `RequestEntityTooLarge`. */
  readonly reason?: string | null;
}

/** Annotation of the audit event of a request, recorded as `POLICY/KEY`. */
export interface AuditAnnotation {
  /** Key of the annotation; it is prefixed with the name of the policy. */
  readonly key: string;
  /** CEL expression for the value; the annotation is omitted if it is null or blank. */
  readonly valueExpression: string;
}

/** Observed state of a policy. */
export interface ValidatingAdmissionPolicyStatus {
  /** Generation of the policy that the status is based on. */
  readonly observedGeneration?: number;
  /** Result of checking the expressions against the types of the matched resources. */
  readonly typeChecking?: { readonly expressionWarnings?: readonly ExpressionWarning[] } | null;
  readonly conditions?: readonly Condition[];
}

/** Warning about the types in an expression. */
export interface ExpressionWarning {
  /** Path of the field with the expression, such as `spec.validations[0].expression`. */
  readonly fieldRef: string;
  /** Result of type checking, for each type that was checked. */
  readonly warning: string;
}

/** Puts a ValidatingAdmissionPolicy into effect, with its parameters. */
export interface ValidatingAdmissionPolicyBinding extends ApiObject {
  readonly spec?: ValidatingAdmissionPolicyBindingSpec;
}

/** Policy that a binding puts into effect, its parameters, scope and actions. */
export interface ValidatingAdmissionPolicyBindingSpec extends AdmissionPolicyBindingSpec {
  /** Actions if a validation fails: `Deny`, `Warn` and `Audit`; `Deny` and `Warn` cannot be combined. */
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
