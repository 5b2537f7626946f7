import type { UserInfo } from '../api/user.js';

/** One access question: about a resource, or about a path that names none. */
export interface AccessAttributes {
  readonly user: UserInfo;
  readonly verb: string;
  /** Set for a non-resource request; the resource members are then empty. */
  readonly path?: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  /** Selectors of a list, watch or deletecollection, as text; not validated. */
  readonly fieldSelector?: string | undefined;
  readonly labelSelector?: string | undefined;
}

export interface Decision {
  readonly verdict: 'allow' | 'deny' | 'no-opinion';
  readonly reason: string;
  /** An error while deciding that did not keep the authorizer from answering. */
  readonly error?: string;
}

/** Answers one access question. */
export interface Authorizer {
  authorize(attributes: AccessAttributes): Promise<Decision>;
  /** The rules that apply to a user in a namespace, where the authorizer can list them (SelfSubjectRulesReview). */
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
