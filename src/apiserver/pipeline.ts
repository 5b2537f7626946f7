import { ApiError, isReason, timeout, unauthorized, untyped } from '../api/errors.js';
import type { UserInfo } from '../api/user.js';
import { AuthenticationError } from '../auth/authenticator.js';
import { StoreClosed } from '../store/store.js';
import { accessOf, requireAccess } from './access.js';
import { errorForm } from './negotiate.js';
import type { NonResourceRoutes } from './non-resource.js';
import type { Parts } from './parts.js';
import type { ApiRequest, ApiResponse, Headers, Representation, Result } from './request.js';
import { runResourceRequest } from './resource-request.js';

/**
 * Every request, from whoever it comes: who is it, whom do they act for, may they, and then the verb.
 * Nothing about a request is refused after it was partly done; failures become Status objects here and nowhere else.
 */
export async function handle(parts: Parts, routes: NonResourceRoutes, request: ApiRequest): Promise<ApiResponse> {
  const warnings = new Set<string>();
  const warn = (text: string): void => {
    // A line break would end the header.
    if (!/[\r\n]/.test(text)) warnings.add(text);
  };
  let filtered = true;
  try {
    const user = await identify(parts, request, warn);
    await requireAccess(parts.authorizer, accessOf(user, request.info), request.uri);
    filtered = false;
    if (!request.info.isResource) {
      const { result, representation, headers } = await routes.run(request, user);
      return { result, representation, warnings: [...warnings], ...(headers === undefined ? {} : { headers }) };
    }
    const { result, representation } = await runResourceRequest(parts, request, user, warn);
    return { result, representation, warnings: [...warnings] };
  } catch (error) {
    return failure(parts, request, error, { warnings: [...warnings], filtered });
  }
}

async function identify(parts: Parts, request: ApiRequest, warn: (text: string) => void): Promise<UserInfo> {
  if ('user' in request.caller) return request.caller.user;
  const { credentials } = request.caller;
  try {
    const found = await parts.authenticator.authenticate(credentials);
    if (found === undefined) throw unauthorized();
    for (const text of found.warnings ?? []) warn(text);
    const acting = await parts.impersonation.impersonate(credentials, accessOf(found.user, request.info));
    return acting?.user ?? found.user;
  } catch (error) {
    if (!(error instanceof AuthenticationError)) throw error;
    parts.log.debug({ reason: error.message }, 'not authenticated');
    throw unauthorized();
  }
}

const nosniff: Headers = { 'X-Content-Type-Options': 'nosniff' };

/** An error as an answer. What nobody expected is logged and told as a bare 500. */
function failure(
  parts: Parts,
  request: ApiRequest,
  error: unknown,
  { warnings, filtered }: { readonly warnings: readonly string[]; readonly filtered: boolean },
): ApiResponse {
  const told = toApiError(parts, request, error);
  const result: Result = { type: 'object', code: told.code, object: told.toStatus() };
  const retry = told.details?.retryAfterSeconds;
  const headers: Headers = {
    ...(filtered && isReason(told, 'Forbidden') ? nosniff : {}),
    ...(retry ? { 'Retry-After': String(retry) } : {}),
  };
  const form: Representation = errorForm(request.header('accept'), request.query, request.header('user-agent'));
  return {
    result,
    warnings,
    representation: isReason(told, 'NotAcceptable') ? { mediaType: 'json', pretty: true } : form,
    headers,
  };
}

function toApiError(parts: Parts, request: ApiRequest, error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof StoreClosed)
    return timeout('request did not complete within requested timeout - the server is shutting down');
  if (request.signal.aborted) return timeout('the caller has gone');
  parts.log.error({ err: error, method: request.method, uri: request.uri }, 'request failed');
  return untyped(error instanceof Error ? error.message : String(error));
}
