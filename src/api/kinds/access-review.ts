import { defaultDomains } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';

/** Reviews of access. Answered at once, never stored. */

/** Asks whether a user may do something. */
export interface SubjectAccessReview extends ApiObject {
  readonly spec: SubjectAccessReviewSpec;
  readonly status?: AccessReviewStatus;
}

/** Asks whether a user may do something in this namespace. */
export interface LocalSubjectAccessReview extends ApiObject {
  readonly spec: SubjectAccessReviewSpec;
  readonly status?: AccessReviewStatus;
}

/** Asks whether the caller may do something. */
export interface SelfSubjectAccessReview extends ApiObject {
  readonly spec: AccessQuestion;
  readonly status?: AccessReviewStatus;
}

/** Asks what the caller may do in a namespace. */
export interface SelfSubjectRulesReview extends ApiObject {
  readonly spec: { readonly namespace?: string };
  readonly status?: RulesReviewStatus;
}

/** The reviewed action: on a resource or on a non-resource path, never both. */
export interface AccessQuestion {
  readonly resourceAttributes?: ResourceAttributes;
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string };
}

/** The reviewed user, groups, or both. */
export interface SubjectAccessReviewSpec extends AccessQuestion {
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly uid?: string;
}

/**
 * An action on a resource. `*` stands for all, as does an empty name; an empty namespace stands for all, or for none if
 * the type is cluster-scoped.
 */
export interface ResourceAttributes {
  readonly namespace?: string | undefined;
  readonly verb?: string;
  readonly group?: string;
  readonly version?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly name?: string | undefined;
  readonly fieldSelector?: SelectorAttributes;
  readonly labelSelector?: SelectorAttributes;
}

/** A selector as text or as requirements, never both. */
export interface SelectorAttributes {
  readonly rawSelector?: string;
  readonly requirements?: readonly {
    readonly key?: string;
    readonly operator?: string;
    readonly values?: readonly string[];
  }[];
}

/** The answer of an access review. What is neither allowed nor denied is not allowed either. */
export interface AccessReviewStatus {
  readonly allowed: boolean;
  /** Whether access was explicitly denied. */
  readonly denied?: boolean;
  readonly reason?: string;
  readonly evaluationError?: string;
}

/** The rules for the caller in a namespace; each rule allows every combination of its members. */
export interface RulesReviewStatus {
  readonly resourceRules: readonly {
    readonly verbs: readonly string[];
    readonly apiGroups?: readonly string[];
    readonly resources?: readonly string[];
    readonly resourceNames?: readonly string[];
  }[];
  readonly nonResourceRules: readonly {
    readonly verbs: readonly string[];
    readonly nonResourceURLs?: readonly string[];
  }[];
  /** Whether there may be more rules than these. */
  readonly incomplete: boolean;
  readonly evaluationError?: string;
}

const group = `authorization.${defaultDomains.api}`;

/** The resource `subjectaccessreviews` of `authorization.k8s.io/v1`, cluster-scoped; it can only be created. */
export const SubjectAccessReviews = resourceType<SubjectAccessReview>({
  group,
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  namespaced: false,
});

/** The resource `localsubjectaccessreviews` of `authorization.k8s.io/v1`, namespaced; it can only be created. */
export const LocalSubjectAccessReviews = resourceType<LocalSubjectAccessReview>({
  group,
  version: 'v1',
  plural: 'localsubjectaccessreviews',
  kind: 'LocalSubjectAccessReview',
  namespaced: true,
});

/** The resource `selfsubjectaccessreviews` of `authorization.k8s.io/v1`, cluster-scoped; it can only be created. */
export const SelfSubjectAccessReviews = resourceType<SelfSubjectAccessReview>({
  group,
  version: 'v1',
  plural: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
  namespaced: false,
});

/** The resource `selfsubjectrulesreviews` of `authorization.k8s.io/v1`, cluster-scoped; it can only be created. */
export const SelfSubjectRulesReviews = resourceType<SelfSubjectRulesReview>({
  group,
  version: 'v1',
  plural: 'selfsubjectrulesreviews',
  kind: 'SelfSubjectRulesReview',
  namespaced: false,
});
