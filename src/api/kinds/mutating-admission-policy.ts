import { type ApiObject, resourceType } from '../object.js';
import { type AdmissionPolicyBindingSpec, type AdmissionPolicySpec, policyGroup } from './admission-policy.js';

/** Changes in CEL to written objects (KEP-3962). Takes effect only through a binding. */
export interface MutatingAdmissionPolicy extends ApiObject {
  readonly spec?: MutatingAdmissionPolicySpec;
}

/** Members with a default are present in stored objects. */
export interface MutatingAdmissionPolicySpec extends AdmissionPolicySpec {
  /** The mutations; each sees the object as changed by the previous ones. */
  readonly mutations?: readonly Mutation[];
  /** Whether the mutations are applied again if another plugin changed the object afterwards. */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded' | (string & {});
}

/** A mutation, with the member that `patchType` names. */
export interface Mutation {
  readonly patchType: 'ApplyConfiguration' | 'JSONPatch' | (string & {});
  readonly applyConfiguration?: MutationExpression | null;
  readonly jsonPatch?: MutationExpression | null;
}

/** An expression in CEL that computes the changes. */
export interface MutationExpression {
  /** The expression: an `Object{...}` to merge into the object, or a list of `JSONPatch{...}`. */
  readonly expression?: string;
}

/** Puts a policy into effect, with its parameters. */
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
