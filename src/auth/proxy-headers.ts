/** The names of the headers in which a proxy names the caller, in any case. */
export interface FrontProxyHeaders {
  /** The first header whose first value is not empty counts. */
  readonly usernameHeaders: readonly string[];
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
