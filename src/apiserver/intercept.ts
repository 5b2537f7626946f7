import type { UserInfo } from '../api/user.js';

/** A request that has been authorized and is about to be served. Requests of the server's own controllers are included. */
export interface InterceptedRequest {
  readonly user: UserInfo;
  /** False for paths that name no resource, such as /version; then only `path` and `verb` are meaningful. */
  readonly isResource: boolean;
  /** The path without the query. */
  readonly path: string;
  /** get, list, watch, create, update, patch, delete or deletecollection; for non-resource paths the method in lower case. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  /** The plural name of the resource. */
  readonly resource: string;
  /** Empty if the request has none; so are the two members that follow. */
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * Sees requests before they are served, and may delay them. An ApiError that it throws is the answer; anything else
 * becomes a server error (500). For tests.
 */
export type Intercept = (request: InterceptedRequest) => void | Promise<void>;
