import type { UserInfo } from '../api/user.js';
import type { AccessAttributes, Authorizer, Decision } from '../auth/authorizer.js';
import { refusal } from '../auth/denial.js';
import type { RequestInfo } from './request.js';

/** Returns the authorization attributes of a request. */
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
    fieldSelector: info.fieldSelector,
    labelSelector: info.labelSelector,
  };
}

/** Throws Forbidden unless the authorizer allows the request. */
export async function requireAccess(authorizer: Authorizer, attributes: AccessAttributes): Promise<void> {
  checkDecision(await authorizer.authorize(attributes), attributes);
}

/** Throws Forbidden unless the decision allows the request. */
export function checkDecision(decision: Decision, attributes: AccessAttributes): void {
  const refused = refusal(attributes, decision);
  if (refused !== undefined) throw refused;
}
