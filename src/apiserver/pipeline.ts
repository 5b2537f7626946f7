import { ApiError, deadlineExceeded, isReason, timeout, unauthorized, untyped } from '../api/errors.js';
import { messageOf } from '../api/message-of.js';
import { type UserInfo, wellKnown } from '../api/user.js';
import { type Authenticated, AuthenticationError } from '../auth/authenticator.js';
import type { AccessAttributes } from '../auth/authorizer.js';
import { bearerWarning } from '../auth/bearer-token.js';
import { asksToImpersonate } from '../auth/impersonation-headers.js';
import { withoutStack } from '../client/failure-log.js';
import { StoreClosed } from '../store/store.js';
import { StoreUnavailable } from '../store/store-unavailable.js';
import { accessOf, checkDecision } from './access.js';
import { errorForm } from './negotiate.js';
import type { NonResourceRoutes } from './non-resource.js';
import { requestTimeout } from './operations/deadlines.js';
import { isLongRunning } from './operations/in-flight.js';
import {
  authorizationFailed,
  isAlwaysAnswered,
  panicked,
  shuttingDown,
  timedOut,
  tooManyRequests,
} from './operations/operations.js';
import { RequestTracker } from './operations/request-tracker.js';
import type { Parts } from './parts.js';
import { type ApiRequest, type ApiResponse, type Headers, plainJson, type Result, type TextResult } from './request.js';
import { runResourceRequest } from './resource-request.js';

/**
 * Handles all requests, from network clients and from this process: authentication, impersonation, authorization, then
 * the verb. No request is refused after a part of it was done. Errors become Status objects here and nowhere else.
 */
export async function handle(parts: Parts, routes: NonResourceRoutes, request: ApiRequest): Promise<ApiResponse> {
  const { operations } = parts;
  if (operations === undefined) return run(parts, routes, request, undefined);
  if (operations.closing() && 'credentials' in request.caller && !isAlwaysAnswered(request.info.path)) {
    return plainly(shuttingDown);
  }
  const tracker = new RequestTracker(operations, request);
  return tracker.tracked(await runInTime(parts, routes, request, tracker));
}

/**
 * The minimum timeout that is enforced, in milliseconds. No timer is finer: a shorter timeout has expired before any
 * work is done.
 */
const leastMs = 1;

/**
 * Runs a request of a network client within its deadline. Requests of this process have none here, because they enforce
 * it themselves.
 */
function runInTime(
  parts: Parts,
  routes: NonResourceRoutes,
  request: ApiRequest,
  tracker: RequestTracker,
): ApiResponse | Promise<ApiResponse> {
  const deadlines = parts.operations?.deadlines;
  if (deadlines === undefined || 'user' in request.caller || isLongRunning(request.info)) {
    return run(parts, routes, request, tracker);
  }
  let milliseconds: number;
  try {
    milliseconds = requestTimeout(request.query, deadlines.longest);
  } catch (error) {
    if (error instanceof ApiError) tracker.refusedUnauthenticated(error);
    return failure(parts, request, error, { warnings: [], filtered: false });
  }
  if (milliseconds < leastMs) {
    tracker.expiredUnauthenticated();
    return plainly(timedOut);
  }
  tracker.setDeadline(milliseconds);
  const work = run(parts, routes, request, tracker);
  return deadlines.within(milliseconds, work, () => {
    parts.log.warn({ method: request.method, uri: request.uri, milliseconds }, 'request timed out');
    tracker.expired(work);
    request.abandon?.();
    return plainly(timedOut);
  });
}

const plainly = (result: TextResult): ApiResponse => ({
  result,
  warnings: [],
  representation: plainJson,
});

async function run(
  parts: Parts,
  routes: NonResourceRoutes,
  request: ApiRequest,
  tracker: RequestTracker | undefined,
): Promise<ApiResponse> {
  let warnings: Set<string> | undefined;
  const warn = (text: string): void => {
    // Header values cannot contain control characters.
    if (/\p{Cc}/u.test(text)) return;
    warnings ??= new Set();
    warnings.add(text);
  };
  let filtered = true;
  let caller: UserInfo | undefined;
  try {
    caller = await identify(parts, request, tracker, warn);
    const user = asksForOther(request)
      ? await impersonatedUser(parts, request.caller, accessOf(caller, request.info), tracker)
      : caller;
    if (tracker !== undefined && !tracker.enter(user)) return plainly(tooManyRequests);
    const start = parts.clock.monotonic();
    const access = accessOf(user, request.info);
    const decision = await parts.authorizer.authorize(access);
    tracker?.authorized(decision, parts.clock.monotonic() - start);
    if (decision.verdict !== 'allow' && decision.error !== undefined) {
      return plainly(authorizationFailed(request.uri, decision.error));
    }
    checkDecision(decision, access);
    filtered = false;
    if (parts.intercept !== undefined) await parts.intercept({ ...request.info, user });
    const { result, representation, headers }: Omit<ApiResponse, 'warnings'> = request.info.isResource
      ? await runResourceRequest(parts, request, user, warn)
      : await routes.run(request);
    return {
      result,
      representation,
      headers,
      warnings: [...(warnings ?? [])],
      caller,
      unknownCaller: isUnknown(caller),
    };
  } catch (error) {
    if (isFault(error)) {
      parts.log.error({ err: error, method: request.method, uri: request.uri }, 'request panicked');
      tracker?.panicked(error);
      return plainly(panicked);
    }
    const failed = failure(parts, request, error, { warnings: [...(warnings ?? [])], filtered });
    return { ...failed, caller, unknownCaller: caller === undefined || isUnknown(caller) };
  }
}

const isUnknown = ({ username, groups }: UserInfo): boolean =>
  username === wellKnown.anonymous || groups.includes(wellKnown.unauthenticated);

/** Whether only a programming error can throw this error. */
const isFault = (error: unknown): boolean =>
  error instanceof TypeError ||
  error instanceof RangeError ||
  error instanceof ReferenceError ||
  error instanceof SyntaxError;

/** Authenticates the request. */
async function identify(
  parts: Parts,
  request: ApiRequest,
  tracker: RequestTracker | undefined,
  warn: (text: string) => void,
): Promise<UserInfo> {
  if ('user' in request.caller) {
    tracker?.authenticatedLocally(request.caller.user);
    request.record = tracker?.record;
    return request.caller.user;
  }
  const { credentials } = request.caller;
  let refused: AuthenticationError | undefined;
  let found: Authenticated | undefined;
  try {
    found = await parts.authenticator.authenticate(credentials);
  } catch (error) {
    if (!(error instanceof AuthenticationError)) throw error;
    parts.log.debug({ reason: error.message }, 'not authenticated');
    refused = error;
  }
  if (found === undefined) {
    const warning = bearerWarning(credentials);
    if (warning !== undefined) warn(warning);
    const error = unauthorized();
    tracker?.unauthenticated(error, refused);
    throw error;
  }
  for (const text of found.warnings ?? []) warn(text);
  tracker?.authenticated(found);
  request.record = tracker?.record;
  return found.user;
}

/** Applies impersonation: returns the user as whom the request is made. */
async function impersonatedUser(
  { impersonation, clock }: Parts,
  { credentials }: ExternalCaller,
  access: AccessAttributes,
  tracker: RequestTracker | undefined,
): Promise<UserInfo> {
  const start = clock.monotonic();
  try {
    const impersonated = await impersonation.impersonate(credentials, access);
    if (impersonated === undefined) return access.user;
    tracker?.impersonating(impersonated, clock.monotonic() - start);
    return impersonated.user;
  } catch (error) {
    if (isReason(error, 'Forbidden')) tracker?.impersonating(undefined, clock.monotonic() - start);
    throw error;
  }
}

type ExternalCaller = Extract<ApiRequest['caller'], { credentials: unknown }>;
const asksForOther = (request: ApiRequest): request is ApiRequest & { readonly caller: ExternalCaller } =>
  'credentials' in request.caller && asksToImpersonate(request.caller.credentials);

const nosniff: Headers = { 'X-Content-Type-Options': 'nosniff' };

/**
 * Converts an error to a response. An unexpected error is logged and returned as a bare 500; a store that cannot be reached
 * is logged, too, and answered as a request that took too long.
 */
function failure(
  parts: Parts,
  request: ApiRequest,
  error: unknown,
  { warnings, filtered }: { readonly warnings: readonly string[]; readonly filtered: boolean },
): ApiResponse {
  const apiError = toApiError(parts, request, error);
  const result: Result = { type: 'object', code: apiError.code, object: apiError.toStatus() };
  const retry = apiError.details?.retryAfterSeconds;
  const headers: Headers = {
    ...(filtered && !isReason(apiError, 'Unauthorized') ? nosniff : {}),
    ...(retry ? { 'Retry-After': String(retry) } : {}),
  };
  return {
    result,
    warnings,
    representation: errorForm(request.header('accept'), request.query, request.header('user-agent')),
    headers,
  };
}

function toApiError(parts: Parts, request: ApiRequest, error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof StoreClosed)
    return timeout('request did not complete within requested timeout - the server is shutting down');
  if (request.signal.aborted) return timeout('the caller has gone');
  parts.log.error({ err: withoutStack(error), method: request.method, uri: request.uri }, 'request failed');
  return error instanceof StoreUnavailable ? deadlineExceeded({}) : untyped(messageOf(error));
}
