import type { UserInfo } from '../api/user.js';
import type { AccessAttributes, Authorizer } from '../auth/authorizer.js';
import { refusal } from '../auth/denial.js';
import type { RequestInfo } from './request.js';

/** The access question a request puts. */
export function accessOf(user: UserInfo, info: RequestInfo): AccessAttributes {
  if (!info.isResource) return { user, verb: info.verb, path: info.path, group: '', version: '', resource: '' };
  return {
    user,
    verb: info.verb,
    group: info.group,
    version: info.version,
    resource: info.resource,
    subresource: info.subresource || undefined,
    namespace: info.namespace || undefined,
    name: info.name || undefined,
  };
}

/** Throws Forbidden unless the authorizer allows it. `uri` is that of the request. */
export async function requireAccess(authorizer: Authorizer, attributes: AccessAttributes, uri: string): Promise<void> {
  const refused = refusal(attributes, await authorizer.authorize(attributes), uri);
  if (refused !== undefined) throw refused;
}
