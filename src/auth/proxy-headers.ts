/** Names of the headers in which a proxy identifies the caller; case does not matter. */
export interface FrontProxyHeaders {
  /** Headers with the username; the first one with a first value that is not empty is used. */
  readonly usernameHeaders: readonly string[];
  /** Headers with the UID; the first one with a first value that is not empty is used. */
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

export const defaultProxyHeaders: FrontProxyHeaders = {
  usernameHeaders: ['X-Remote-User'],
  uidHeaders: ['X-Remote-Uid'],
  groupHeaders: ['X-Remote-Group'],
  extraHeaderPrefixes: ['X-Remote-Extra-'],
};
