import type { ApiObject } from '../object.js';

/** Requests a token of a ServiceAccount, through its `token` subresource. */
export interface TokenRequest extends ApiObject {
  readonly spec: TokenRequestSpec;
  readonly status?: {
    readonly token: string;
    /** The expiry of the token, in RFC 3339. */
    readonly expirationTimestamp: string | null;
  };
}

/** The requested token: its audiences, lifetime, and the object it is bound to. */
export interface TokenRequestSpec {
  /** The audiences of the token; empty for the API server. */
  readonly audiences?: readonly string[] | null;
  /** The requested lifetime in seconds, at least 600; an hour if absent. */
  readonly expirationSeconds?: number | null;
  /** The object that the token is bound to: it is valid only while the object exists. */
  readonly boundObjectRef?: BoundObjectReference | null;
}

/**
 * Refers to a Pod, Secret or Node of `v1`, in the namespace of the account if its type is namespaced. Without a uid, it
 * means the current object with this name.
 */
export interface BoundObjectReference {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly name?: string | undefined;
  readonly uid?: string | undefined;
}

/** Returns the error for a bound object that has the name but another uid. */
export const boundObjectMismatch = ({ uid = '' }: BoundObjectReference): string =>
  `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
