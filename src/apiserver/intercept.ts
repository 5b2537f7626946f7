import type { UserInfo } from '../api/user.js';

/** An authorized request that is about to be served. Requests of the server's own controllers are included. */
export interface InterceptedRequest {
  readonly user: UserInfo;
  /** Whether the path names a resource; if it does not, such as /version, only `path` and `verb` are meaningful. */
  readonly isResource: boolean;
  /** Path without the query. */
  readonly path: string;
  /**
   * Verb: get, list, watch, create, update, patch, delete or deletecollection; for non-resource paths the HTTP method
   * in lower case.
   */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  /** Name of the resource, in plural. */
  readonly resource: string;
  /** Name of the subresource. Like `namespace` and `name`, it is empty if there is none. */
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * Called for requests before they are served; may delay them. An ApiError that it throws is returned to the caller; any
 * other error causes a server error (500). For tests.
 */
export type Intercept = (request: InterceptedRequest) => void | Promise<void>;
