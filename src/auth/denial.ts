import { type ApiError, forbidden, internalError } from '../api/errors.js';
import { entitiesFor, quote } from '../api/go-text.js';
import type { AccessAttributes, Decision } from './authorizer.js';

/**
 * Returns the sentence of a denial, escaped for display in a browser: `User "u" cannot get resource "pods" in API group
 * "" at the cluster scope`.
 */
function denialText(attributes: AccessAttributes): string {
  const { user, verb, path, group, resource, subresource, namespace } = attributes;
  const userCannot = `User ${quote(user.username)} cannot ${verb}`;
  const target = subresource ? `${resource}/${subresource}` : resource;
  const where = namespace ? `in the namespace ${quote(namespace)}` : 'at the cluster scope';
  const text =
    path === undefined
      ? `${userCannot} resource ${quote(target)} in API group ${quote(group)} ${where}`
      : `${userCannot} path ${quote(path)}`;
  return entitiesFor(text);
}

/**
 * Returns the 403 error for a request that no authorizer allowed. `reason` follows the sentence that says who may not do
 * what.
 */
export function accessDenied(attributes: AccessAttributes, reason: string): ApiError {
  const sentence = denialText(attributes);
  const text = reason === '' ? sentence : `${sentence}: ${reason}`;
  return forbidden({ group: attributes.group, plural: attributes.resource, name: attributes.name }, text);
}

/** Returns the error for a request with this decision, usually 403; undefined if the request is allowed. */
export function refusal(attributes: AccessAttributes, decision: Decision): ApiError | undefined {
  if (decision.verdict === 'allow') return undefined;
  return decision.error === undefined ? accessDenied(attributes, decision.reason) : internalError(decision.error);
}
