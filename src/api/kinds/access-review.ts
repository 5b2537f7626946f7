import { defaultDomains } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';

/** Questions about access. Answered at once, never stored. */

/** May this user do this? */
export interface SubjectAccessReview extends ApiObject {
  readonly spec: SubjectAccessReviewSpec;
  readonly status?: AccessReviewStatus;
}

/** May this user do this in this namespace? */
export interface LocalSubjectAccessReview extends ApiObject {
  readonly spec: SubjectAccessReviewSpec;
  readonly status?: AccessReviewStatus;
}

/** May the caller do this? */
export interface SelfSubjectAccessReview extends ApiObject {
  readonly spec: AccessQuestion;
  readonly status?: AccessReviewStatus;
}

/** What may the caller do in this namespace? */
export interface SelfSubjectRulesReview extends ApiObject {
  readonly spec: { readonly namespace?: string };
  readonly status?: RulesReviewStatus;
}

/** About a resource or about a path, never both. */
export interface AccessQuestion {
  readonly resourceAttributes?: ResourceAttributes;
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string };
}

/** Whose access is asked about: a user, groups, or both. */
export interface SubjectAccessReviewSpec extends AccessQuestion {
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly uid?: string;
}

/**
 * What would be done with a resource. A `*` stands for all, as does an empty name; an empty namespace is all, or none where the
 * type has none.
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

/** The answer to one question about access. What is neither allowed nor denied is not allowed either. */
export interface AccessReviewStatus {
  readonly allowed: boolean;
  /** True only for an explicit no. */
  readonly denied?: boolean;
  readonly reason?: string;
  readonly evaluationError?: string;
}

/** What the caller may do in a namespace, rule by rule; each allows every combination of its members. */
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
  /** True if there may be more rules than these. */
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
