import { defaultDomains } from '../domains.js';
import type { LabelSelectorSpec } from '../label-selectors.js';
import type { ApiObject } from '../object.js';
import type { MatchCondition, RuleWithOperations } from './webhook-configuration.js';

/** What policies that validate and policies that mutate have in common. */

export const policyGroup = `admissionregistration.${defaultDomains.api}`;

export interface AdmissionPolicy extends ApiObject {
  readonly spec?: AdmissionPolicySpec;
}

/** Members with a default are present in stored objects. */
export interface AdmissionPolicySpec {
  /** What kind of objects bindings may give as `params`. */
  readonly paramKind?: ParamKind | null;
  readonly matchConstraints?: MatchResources | null;
  /** What an expression that cannot be evaluated means. */
  readonly failurePolicy?: 'Fail' | 'Ignore' | (string & {});
  readonly matchConditions?: readonly MatchCondition[];
  /** Each can be used by those behind it as `variables.NAME`. */
  readonly variables?: readonly PolicyVariable[];
}

/** Puts a policy into force, with its parameters. */
export interface AdmissionPolicyBinding extends ApiObject {
  readonly spec?: AdmissionPolicyBindingSpec;
}

/** Which policy is put into force, for which requests, and with what parameters. */
export interface AdmissionPolicyBindingSpec {
  readonly policyName?: string;
  readonly paramRef?: ParamRef | null;
  /** Narrows what the policy matches. */
  readonly matchResources?: MatchResources | null;
}

/** The kind of the objects that hold parameters of a policy. */
export interface ParamKind {
  /** `group/version`. */
  readonly apiVersion?: string;
  readonly kind?: string;
}

/** Which requests are meant. */
export interface MatchResources {
  readonly namespaceSelector?: LabelSelectorSpec | null;
  readonly objectSelector?: LabelSelectorSpec | null;
  readonly resourceRules?: readonly NamedRuleWithOperations[];
  /** Win over `resourceRules`. */
  readonly excludeResourceRules?: readonly NamedRuleWithOperations[];
  readonly matchPolicy?: 'Equivalent' | 'Exact' | (string & {});
}

/** Which requests are meant: every combination of its members, where `*` is all. */
export interface NamedRuleWithOperations extends RuleWithOperations {
  /** Names of the objects meant; none: all. */
  readonly resourceNames?: readonly string[];
}

/** A value that expressions of a policy can use. It is computed when one first asks for it. */
export interface PolicyVariable {
  readonly name: string;
  readonly expression: string;
}

/** Either by name or by labels. */
export interface ParamRef {
  readonly name?: string;
  /** Absent: that of the request. */
  readonly namespace?: string;
  readonly selector?: LabelSelectorSpec | null;
  readonly parameterNotFoundAction?: 'Allow' | 'Deny' | (string & {}) | null;
}
