import { type ApiError, forbidden, internalError } from '../api/errors.js';
import { entitiesFor, quote } from '../api/go-text.js';
import type { AccessAttributes, Decision } from './authorizer.js';

/**
 * Returns the sentence of a denial, escaped for display in a browser: `User "u" cannot get resource "pods" in API group
 * "" at the cluster scope`.
 */
function denialText(attributes: AccessAttributes): string {
  const { user, verb, path, group, resource, subresource, namespace } = attributes;
  const who = `User ${quote(user.username)} cannot ${verb}`;
  const what = subresource ? `${resource}/${subresource}` : resource;
  const where = namespace ? `in the namespace ${quote(namespace)}` : 'at the cluster scope';
  const text =
    path === undefined
      ? `${who} resource ${quote(what)} in API group ${quote(group)} ${where}`
      : `${who} path ${quote(path)}`;
  return entitiesFor(text);
}

/**
 * Returns the 403 error for a request that no authorizer allowed. `why` follows the sentence that says who may not do
 * what.
 */
export function accessDenied(attributes: AccessAttributes, why: string): ApiError {
  const sentence = denialText(attributes);
  const text = why === '' ? sentence : `${sentence}: ${why}`;
  return forbidden({ group: attributes.group, plural: attributes.resource, name: attributes.name }, text);
}

/** Returns the error for a request with this decision, usually 403; undefined if the request is allowed. */
export function refusal(attributes: AccessAttributes, decision: Decision): ApiError | undefined {
  if (decision.verdict === 'allow') return undefined;
  return decision.error === undefined ? accessDenied(attributes, decision.reason) : internalError(decision.error);
}
