import { defaultDomains } from '../domains.js';
import type { LabelSelectorSpec } from '../label-selectors.js';
import type { ApiObject } from '../object.js';
import type { MatchCondition, RuleWithOperations } from './webhook-configuration.js';

/** The common parts of validating and mutating admission policies. */

/** The API group of admission policies and their bindings. */
export const policyGroup = `admissionregistration.${defaultDomains.api}`;

/** Members that validating and mutating admission policies share. */
export interface AdmissionPolicy extends ApiObject {
  readonly spec?: AdmissionPolicySpec;
}

/** Members that the specs of both kinds of policies share. Members with a default are present in stored objects. */
export interface AdmissionPolicySpec {
  /** Kind of the parameter objects that bindings refer to. */
  readonly paramKind?: ParamKind | null;
  /** Requests that the policy applies to. */
  readonly matchConstraints?: MatchResources | null;
  /** Handling of expressions that cannot be evaluated: `Fail` (the default) or `Ignore`. */
  readonly failurePolicy?: 'Fail' | 'Ignore' | (string & {});
  /** CEL conditions that must all be true for the policy to apply. */
  readonly matchConditions?: readonly MatchCondition[];
  /** Named values that other expressions can use; later variables can use earlier ones. */
  readonly variables?: readonly PolicyVariable[];
}

/** Puts a policy into effect, with its parameters. */
export interface AdmissionPolicyBinding extends ApiObject {
  readonly spec?: AdmissionPolicyBindingSpec;
}

/** Policy that a binding puts into effect, its parameters and its scope. */
export interface AdmissionPolicyBindingSpec {
  /** Name of the policy to put into effect. */
  readonly policyName?: string;
  /** Parameters of the policy; required if the policy has a `paramKind`. */
  readonly paramRef?: ParamRef | null;
  /** Further conditions for the requests: both these and those of the policy must match. */
  readonly matchResources?: MatchResources | null;
}

/** Kind of the objects that parameterize a policy. */
export interface ParamKind {
  /** API group and version of the parameter kind. */
  readonly apiVersion?: string;
  /** Kind of the parameter objects. */
  readonly kind?: string;
}

/** Conditions that select the requests to which a policy applies. */
export interface MatchResources {
  /** Label selector that the namespace of the object must match. */
  readonly namespaceSelector?: LabelSelectorSpec | null;
  /** Label selector that the object must match. */
  readonly objectSelector?: LabelSelectorSpec | null;
  /** Rules for the requests that are matched; a request must match at least one. */
  readonly resourceRules?: readonly NamedRuleWithOperations[];
  /** Exceptions: requests that match any of these rules are not matched. */
  readonly excludeResourceRules?: readonly NamedRuleWithOperations[];
  /** Whether rules also match requests for other versions of a resource: `Equivalent` (the default) or `Exact`. */
  readonly matchPolicy?: 'Equivalent' | 'Exact' | (string & {});
}

/** Requests that a rule matches, by operation, resource and object name. */
export interface NamedRuleWithOperations extends RuleWithOperations {
  /** Names of the objects that the rule applies to; empty for all. */
  readonly resourceNames?: readonly string[];
}

/** Named value that other expressions can use. It is evaluated on first use. */
export interface PolicyVariable {
  /** Name of the variable; expressions refer to it as `variables.NAME`. */
  readonly name: string;
  /** CEL expression for the value of the variable. */
  readonly expression: string;
}

/** Reference to the objects that parameterize a policy, either by name or by labels. */
export interface ParamRef {
  /** Name of the parameter object; cannot be combined with `selector`. */
  readonly name?: string;
  /** Namespace of the parameter objects; by default that of the request. */
  readonly namespace?: string;
  /** Label selector of the parameter objects; the policy is evaluated with each of them. */
  readonly selector?: LabelSelectorSpec | null;
  /** What happens if no parameter object is found: `Allow` or `Deny`. */
  readonly parameterNotFoundAction?: 'Allow' | 'Deny' | (string & {}) | null;
}
