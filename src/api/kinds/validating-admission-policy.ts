import type { Condition } from '../conditions.js';
import { defaultDomains } from '../domains.js';
import type { LabelSelectorSpec } from '../label-selectors.js';
import { type ApiObject, resourceType } from '../object.js';
import type { MatchCondition, RuleWithOperations } from './webhook-configuration.js';

/** Rules in CEL about what is written (KEP-3488). Nothing is judged by them until a binding says so. */
export interface ValidatingAdmissionPolicy extends ApiObject {
  readonly spec?: ValidatingAdmissionPolicySpec;
  readonly status?: ValidatingAdmissionPolicyStatus;
}

/** Members with a default are present in stored objects. */
export interface ValidatingAdmissionPolicySpec {
  /** What kind of objects bindings may give as `params`. */
  readonly paramKind?: ParamKind | null;
  readonly matchConstraints?: MatchResources | null;
  readonly validations?: readonly Validation[];
  /** What an expression that cannot be evaluated means. */
  readonly failurePolicy?: 'Fail' | 'Ignore' | (string & {});
  readonly auditAnnotations?: readonly AuditAnnotation[];
  readonly matchConditions?: readonly MatchCondition[];
  /** Each can be used by those behind it as `variables.NAME`. */
  readonly variables?: readonly PolicyVariable[];
}

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

export interface NamedRuleWithOperations extends RuleWithOperations {
  /** Names of the objects meant; none: all. */
  readonly resourceNames?: readonly string[];
}

/** What must be true. */
export interface Validation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  /** `Forbidden`, `Invalid` (the default) or `RequestEntityTooLarge`. */
  readonly reason?: string | null;
}

export interface AuditAnnotation {
  readonly key: string;
  /** What is null or blank is not recorded. */
  readonly valueExpression: string;
}

export interface PolicyVariable {
  readonly name: string;
  readonly expression: string;
}

export interface ValidatingAdmissionPolicyStatus {
  readonly observedGeneration?: number;
  readonly typeChecking?: { readonly expressionWarnings?: readonly ExpressionWarning[] } | null;
  readonly conditions?: readonly Condition[];
}

export interface ExpressionWarning {
  /** JSON path of the expression's field: `spec.validations[0].expression`. */
  readonly fieldRef: string;
  readonly warning: string;
}

/** Puts a policy into force, with its parameters. */
export interface ValidatingAdmissionPolicyBinding extends ApiObject {
  readonly spec?: ValidatingAdmissionPolicyBindingSpec;
}

export interface ValidatingAdmissionPolicyBindingSpec {
  readonly policyName?: string;
  readonly paramRef?: ParamRef | null;
  /** Narrows what the policy matches. */
  readonly matchResources?: MatchResources | null;
  /** What follows from a validation that is false: `Deny`, `Warn`, `Audit`. */
  readonly validationActions?: readonly string[];
}

/** Either by name or by labels. */
export interface ParamRef {
  readonly name?: string;
  /** Absent: that of the request. */
  readonly namespace?: string;
  readonly selector?: LabelSelectorSpec | null;
  readonly parameterNotFoundAction?: 'Allow' | 'Deny' | (string & {}) | null;
}

const group = `admissionregistration.${defaultDomains.api}`;

export const ValidatingAdmissionPolicies = resourceType<ValidatingAdmissionPolicy>({
  group,
  version: 'v1',
  plural: 'validatingadmissionpolicies',
  kind: 'ValidatingAdmissionPolicy',
  namespaced: false,
  categories: ['api-extensions'],
});

export const ValidatingAdmissionPolicyBindings = resourceType<ValidatingAdmissionPolicyBinding>({
  group,
  version: 'v1',
  plural: 'validatingadmissionpolicybindings',
  kind: 'ValidatingAdmissionPolicyBinding',
  namespaced: false,
  categories: ['api-extensions'],
});
