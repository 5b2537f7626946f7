import { defaultDomains } from '../domains.js';
import type { LabelSelectorSpec } from '../label-selectors.js';
import type { ApiObject } from '../object.js';
import type { MatchCondition, RuleWithOperations } from './webhook-configuration.js';

/** The common parts of validating and mutating admission policies. */

export const policyGroup = `admissionregistration.${defaultDomains.api}`;

export interface AdmissionPolicy extends ApiObject {
  readonly spec?: AdmissionPolicySpec;
}

/** Members with a default are present in stored objects. */
export interface AdmissionPolicySpec {
  /** The kind of the objects that bindings may use as `params`. */
  readonly paramKind?: ParamKind | null;
  readonly matchConstraints?: MatchResources | null;
  /** What happens to requests for which an expression fails. */
  readonly failurePolicy?: 'Fail' | 'Ignore' | (string & {});
  readonly matchConditions?: readonly MatchCondition[];
  /** The variables; each is available to later ones as `variables.NAME`. */
  readonly variables?: readonly PolicyVariable[];
}

/** Puts a policy into effect, with its parameters. */
export interface AdmissionPolicyBinding extends ApiObject {
  readonly spec?: AdmissionPolicyBindingSpec;
}

/** The policy to put into effect, the requests it applies to, and its parameters. */
export interface AdmissionPolicyBindingSpec {
  readonly policyName?: string;
  readonly paramRef?: ParamRef | null;
  /** Further restricts the requests that the policy matches. */
  readonly matchResources?: MatchResources | null;
}

/** The kind of the objects that hold a policy's parameters. */
export interface ParamKind {
  /** The `group/version`. */
  readonly apiVersion?: string;
  readonly kind?: string;
}

/** Selects requests. */
export interface MatchResources {
  readonly namespaceSelector?: LabelSelectorSpec | null;
  readonly objectSelector?: LabelSelectorSpec | null;
  readonly resourceRules?: readonly NamedRuleWithOperations[];
  /** Rules of excluded requests, which take precedence over `resourceRules`. */
  readonly excludeResourceRules?: readonly NamedRuleWithOperations[];
  readonly matchPolicy?: 'Equivalent' | 'Exact' | (string & {});
}

/** Selects requests: every combination of its members, where `*` stands for all. */
export interface NamedRuleWithOperations extends RuleWithOperations {
  /** The names of the selected objects; empty for all. */
  readonly resourceNames?: readonly string[];
}

/** A variable for the expressions of a policy. It is evaluated on first use. */
export interface PolicyVariable {
  readonly name: string;
  readonly expression: string;
}

/** Refers to parameters, either by name or by labels. */
export interface ParamRef {
  readonly name?: string;
  /** The namespace of the parameters; that of the request if absent. */
  readonly namespace?: string;
  readonly selector?: LabelSelectorSpec | null;
  readonly parameterNotFoundAction?: 'Allow' | 'Deny' | (string & {}) | null;
}
