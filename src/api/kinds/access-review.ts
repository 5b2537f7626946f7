import { defaultDomains } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';

/** Reviews of access. Answered at once, never stored. */

/** Checks whether a user may perform an action. Answered in the response to its creation, never stored. */
export interface SubjectAccessReview extends ApiObject {
  /** Access to check. */
  readonly spec: SubjectAccessReviewSpec;
  /** Result; set by the server. */
  readonly status?: AccessReviewStatus;
}

/**
 * Checks whether a user may perform an action in one namespace. Answered in the response to its creation, never stored.
 */
export interface LocalSubjectAccessReview extends ApiObject {
  /** Access to check. */
  readonly spec: SubjectAccessReviewSpec;
  /** Result; set by the server. */
  readonly status?: AccessReviewStatus;
}

/** Checks whether the caller may perform an action. Answered in the response to its creation, never stored. */
export interface SelfSubjectAccessReview extends ApiObject {
  /** Access to check. */
  readonly spec: AccessQuestion;
  /** Result; set by the server. */
  readonly status?: AccessReviewStatus;
}

/**
 * Lists the actions that the caller may perform in a namespace. Answered in the response to its creation, never stored.
 */
export interface SelfSubjectRulesReview extends ApiObject {
  /** Namespace for which the rules are evaluated. */
  readonly spec: { readonly namespace?: string };
  /** Result; set by the server. */
  readonly status?: RulesReviewStatus;
}

/** Requested access: either to a resource or to a non-resource path. */
export interface AccessQuestion {
  /** Requested access to a resource; either this or `nonResourceAttributes` is set. */
  readonly resourceAttributes?: ResourceAttributes;
  /**
   * Requested access to a non-resource path: the URL path and the HTTP method in lower case; either this or
   * `resourceAttributes` is set.
   */
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string };
}

/** User whose access is checked, by name, groups or both, and the requested access. */
export interface SubjectAccessReviewSpec extends AccessQuestion {
  /** Name of the user whose access is checked. */
  readonly user?: string;
  /** Groups of the user whose access is checked; no group is implied. */
  readonly groups?: readonly string[];
  /** Extra attributes of the user whose access is checked. */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  /** UID of the user whose access is checked. */
  readonly uid?: string;
}

/** Attributes of a request for a resource. */
export interface ResourceAttributes {
  /** Namespace of the requested access; empty for all namespaces and for cluster-scoped resources. */
  readonly namespace?: string | undefined;
  /** Kubernetes verb of the request, such as `get`, `list` or `create`; `*` for all. */
  readonly verb?: string;
  /** API group of the resource; `*` for all. */
  readonly group?: string;
  /** API version of the resource; `*` for all. */
  readonly version?: string;
  /** Name of the resource, in plural; `*` for all. */
  readonly resource?: string;
  /** Name of the subresource; empty for none. */
  readonly subresource?: string;
  /** Name of the object; empty for all. */
  readonly name?: string | undefined;
  /** Limits the requested access by field. */
  readonly fieldSelector?: SelectorAttributes;
  /** Limits the requested access by label. */
  readonly labelSelector?: SelectorAttributes;
}

/** Selector that limits the requested access; either as a string or as requirements. */
export interface SelectorAttributes {
  /** Selector as a string, as in a query parameter. */
  readonly rawSelector?: string;
  /** Selector as a list of requirements that must all be met. */
  readonly requirements?: readonly {
    readonly key?: string;
    /** Operator: `In`, `NotIn`, `Exists` or `DoesNotExist`. */
    readonly operator?: string;
    /** Values for `In` and `NotIn`; empty for `Exists` and `DoesNotExist`. */
    readonly values?: readonly string[];
  }[];
}

/** Result of an access check. */
export interface AccessReviewStatus {
  /** Whether the access is allowed. */
  readonly allowed: boolean;
  /** Whether the access is explicitly denied; if neither allowed nor denied, no authorizer has an opinion. */
  readonly denied?: boolean;
  /** Why the access is allowed or denied. */
  readonly reason?: string;
  /** Error during the check; a result may still be given. */
  readonly evaluationError?: string;
}

/** Permissions of the caller in a namespace. Each rule allows every combination of its members. */
export interface RulesReviewStatus {
  /** Permissions on resources, in the order of the bindings; may contain duplicates. */
  readonly resourceRules: readonly {
    readonly verbs: readonly string[];
    readonly apiGroups?: readonly string[];
    readonly resources?: readonly string[];
    readonly resourceNames?: readonly string[];
  }[];
  /** Permissions on non-resource paths, in the order of the bindings; may contain duplicates. */
  readonly nonResourceRules: readonly {
    readonly verbs: readonly string[];
    readonly nonResourceURLs?: readonly string[];
  }[];
  /** Whether the lists may be incomplete, so that more is allowed than is listed. */
  readonly incomplete: boolean;
  /** Error during the evaluation of the rules; the lists may then be incomplete. */
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
