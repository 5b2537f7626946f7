import type { ApiObject } from '../object.js';

/** Requests a token of a service account, through its `token` subresource. */
export interface TokenRequest extends ApiObject {
  /** Requested properties of the token. */
  readonly spec: TokenRequestSpec;
  /** Issued token; set by the server. */
  readonly status?: {
    readonly token: string;
    /** Time at which the token expires, in RFC 3339. */
    readonly expirationTimestamp: string | null;
  };
}

/** Requested properties of the token. */
export interface TokenRequestSpec {
  /**
   * Intended audiences of the token; by default the API server. Each of them can impersonate the caller to the others.
   */
  readonly audiences?: readonly string[] | null;
  /** Requested lifetime of the token in seconds, at least 600; 3600 by default. The issued token may have another. */
  readonly expirationSeconds?: number | null;
  /** Object that the token is bound to: the token is valid only while the object exists. */
  readonly boundObjectRef?: BoundObjectReference | null;
}

/**
 * Object that a token is bound to: a Pod, Secret or Node of `v1`, in the namespace of the service account if its kind
 * is namespaced.
 */
export interface BoundObjectReference {
  /** Kind of the object: `Pod`, `Secret` or `Node`. */
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly name?: string | undefined;
  /** UID that the object must have; if absent, that of the current object of this name is used. */
  readonly uid?: string | undefined;
}

/** Returns the error for a bound object that has the requested name but another UID. */
export const boundObjectMismatch = ({ uid = '' }: BoundObjectReference): string =>
  `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
