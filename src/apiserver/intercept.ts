import type { UserInfo } from '../api/user.js';

/** A request that is allowed and about to be served, from whoever it comes: the server's own controllers too. */
export interface InterceptedRequest {
  readonly user: UserInfo;
  /** False for paths that name no resource, such as /version; only `path` and `verb` count then. */
  readonly isResource: boolean;
  /** Without the query. */
  readonly path: string;
  /** get, list, watch, create, update, patch, delete, deletecollection; for other paths the lower-case method. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  /** The plural. */
  readonly resource: string;
  /** Empty, like the two that follow, where there is none. */
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * Sees requests before they are served, and may wait. What it throws is the answer: an ApiError as it is, and anything else
 * as the fault of a server (500). For tests.
 */
export type Intercept = (request: InterceptedRequest) => void | Promise<void>;
