import { type ApiObject, resourceType } from '../object.js';
import { type AdmissionPolicyBindingSpec, type AdmissionPolicySpec, policyGroup } from './admission-policy.js';

/** Policy in CEL that changes objects on admission (KEP-3962). It has no effect without a binding. */
export interface MutatingAdmissionPolicy extends ApiObject {
  readonly spec?: MutatingAdmissionPolicySpec;
}

/**
 * Requests that a policy applies to, and how it changes objects. Members with a default are present in stored objects.
 */
export interface MutatingAdmissionPolicySpec extends AdmissionPolicySpec {
  /** Changes of the object, in order; each sees the result of the previous ones. */
  readonly mutations?: readonly Mutation[];
  /** Whether to run the policy again if later plugins changed the object: `Never` or `IfNeeded`. */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded' | (string & {});
}

/** One change of the object. */
export interface Mutation {
  /** Type of the mutation: `ApplyConfiguration` or `JSONPatch`. */
  readonly patchType: 'ApplyConfiguration' | 'JSONPatch' | (string & {});
  /**
   * Configuration that is merged into the object, as in server-side apply: the expression returns an `Object{...}`.
   * Required for patchType `ApplyConfiguration`.
   */
  readonly applyConfiguration?: MutationExpression | null;
  /**
   * JSON Patch (RFC 6902) that is applied to the object: the expression returns a list of `JSONPatch{...}` operations.
   * Required for patchType `JSONPatch`.
   */
  readonly jsonPatch?: MutationExpression | null;
}

/** CEL expression that computes a change. */
export interface MutationExpression {
  /** CEL expression that returns an `Object{...}` or a list of `JSONPatch{...}`, depending on the patch type. */
  readonly expression?: string;
}

/** Puts a MutatingAdmissionPolicy into effect, with its parameters. */
export interface MutatingAdmissionPolicyBinding extends ApiObject {
  readonly spec?: AdmissionPolicyBindingSpec;
}

/** The resource `mutatingadmissionpolicies` of `admissionregistration.k8s.io/v1`, cluster-scoped. */
export const MutatingAdmissionPolicies = resourceType<MutatingAdmissionPolicy>({
  group: policyGroup,
  version: 'v1',
  plural: 'mutatingadmissionpolicies',
  kind: 'MutatingAdmissionPolicy',
  namespaced: false,
  categories: ['api-extensions'],
});

/** The resource `mutatingadmissionpolicybindings` of `admissionregistration.k8s.io/v1`, cluster-scoped. */
export const MutatingAdmissionPolicyBindings = resourceType<MutatingAdmissionPolicyBinding>({
  group: policyGroup,
  version: 'v1',
  plural: 'mutatingadmissionpolicybindings',
  kind: 'MutatingAdmissionPolicyBinding',
  namespaced: false,
  categories: ['api-extensions'],
});
