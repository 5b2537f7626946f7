import { type ApiObject, resourceType } from '../object.js';
import { type AdmissionPolicyBindingSpec, type AdmissionPolicySpec, policyGroup } from './admission-policy.js';

/** Changes in CEL of what is written (KEP-3962). Nothing is changed by them until a binding says so. */
export interface MutatingAdmissionPolicy extends ApiObject {
  readonly spec?: MutatingAdmissionPolicySpec;
}

/** Members with a default are present in stored objects. */
export interface MutatingAdmissionPolicySpec extends AdmissionPolicySpec {
  /** Each sees what the ones before made of the object. */
  readonly mutations?: readonly Mutation[];
  /** Are the mutations made again where somebody else changed the object since? */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded' | (string & {});
}

/** One change. Of its two members there is the one that `patchType` names. */
export interface Mutation {
  readonly patchType: 'ApplyConfiguration' | 'JSONPatch' | (string & {});
  readonly applyConfiguration?: MutationExpression | null;
  readonly jsonPatch?: MutationExpression | null;
}

/** An expression in CEL that says what changes. */
export interface MutationExpression {
  /** An `Object{...}` to merge into what is written, or a list of `JSONPatch{...}`. */
  readonly expression?: string;
}

/** Puts a policy into force, with its parameters. */
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
