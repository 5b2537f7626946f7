import type { UserInfo } from '../api/user.js';

/** The attributes of an access check, for a resource or for a path that names none. */
export interface AccessAttributes {
  readonly user: UserInfo;
  readonly verb: string;
  /** The path of a non-resource request; the resource members are then empty. */
  readonly path?: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  /** Selectors of a list, watch or deletecollection, as text that is not validated. */
  readonly fieldSelector?: string | undefined;
  readonly labelSelector?: string | undefined;
}

export interface Decision {
  readonly verdict: 'allow' | 'deny' | 'no-opinion';
  readonly reason: string;
  /** An error that occurred during the check but did not prevent a decision. */
  readonly error?: string;
}

/** Decides an access check. */
export interface Authorizer {
  authorize(attributes: AccessAttributes): Promise<Decision>;
  /**
   * Returns the rules that apply to a user in a namespace, as far as the authorizer can list them
   * (SelfSubjectRulesReview).
   */
  rulesFor?(user: UserInfo, namespace: string): Promise<AccessRules>;
}

export interface AccessRules {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly {
    readonly verbs: readonly string[];
    readonly nonResourceURLs: readonly string[];
  }[];
  readonly incomplete: boolean;
  readonly errors: readonly string[];
}

/** Returns no rules; `errors` say why the list may be incomplete. */
export const noRules = (...errors: readonly string[]): AccessRules => ({
  resourceRules: [],
  nonResourceRules: [],
  incomplete: errors.length > 0,
  errors,
});

export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}
