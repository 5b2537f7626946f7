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

export interface SubjectAccessReviewSpec extends AccessQuestion {
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly uid?: string;
}

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

export interface AccessReviewStatus {
  readonly allowed: boolean;
  /** True only for an explicit no. */
  readonly denied?: boolean;
  readonly reason?: string;
  readonly evaluationError?: string;
}

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

export const SubjectAccessReviews = resourceType<SubjectAccessReview>({
  group,
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  namespaced: false,
});

export const LocalSubjectAccessReviews = resourceType<LocalSubjectAccessReview>({
  group,
  version: 'v1',
  plural: 'localsubjectaccessreviews',
  kind: 'LocalSubjectAccessReview',
  namespaced: true,
});

export const SelfSubjectAccessReviews = resourceType<SelfSubjectAccessReview>({
  group,
  version: 'v1',
  plural: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
  namespaced: false,
});

export const SelfSubjectRulesReviews = resourceType<SelfSubjectRulesReview>({
  group,
  version: 'v1',
  plural: 'selfsubjectrulesreviews',
  kind: 'SelfSubjectRulesReview',
  namespaced: false,
});
