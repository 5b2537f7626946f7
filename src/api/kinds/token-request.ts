import type { ApiObject } from '../object.js';

/** Asks for a token of a ServiceAccount; sent to its `token` subresource. */
export interface TokenRequest extends ApiObject {
  readonly spec: TokenRequestSpec;
  readonly status?: {
    readonly token: string;
    /** RFC 3339. */
    readonly expirationTimestamp: string | null;
  };
}

/** What token is wanted: for whom, for how long, and bound to what. */
export interface TokenRequestSpec {
  /** Audiences of the token; none: the API server. */
  readonly audiences?: readonly string[] | null;
  /** Lifetime asked for, in seconds; at least 600. Absent: an hour. */
  readonly expirationSeconds?: number | null;
  /** The token is valid as long as this object is there. */
  readonly boundObjectRef?: BoundObjectReference | null;
}

/**
 * A Pod, Secret or Node of `v1`, in the namespace of the account where its type has one. Without a uid, the one that has the
 * name.
 */
export interface BoundObjectReference {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly name?: string | undefined;
  readonly uid?: string | undefined;
}

/** Why a token is not bound to an object that has the name, but is another one. */
export const boundObjectMismatch = ({ uid = '' }: BoundObjectReference): string =>
  `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
