import { aggregate, quote } from './go-text.js';
import { groupKind, groupResource, isObject } from './object.js';
import { statusTexts } from './status-texts.js';
import { type CauseReason, limitViolations, type Violation } from './violations.js';

/**
 * Reason of an error that the API reports. For each reason there is a function that creates the error; codes and texts
 * are those of kube-apiserver, because clients compare both. See docs/errors.md for how callers should handle each
 * reason.
 */
export type Reason =
  | 'BadRequest'
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'UnsupportedMediaType'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Gone'
  | 'Expired'
  | 'RequestEntityTooLarge'
  | 'Invalid'
  | 'TooManyRequests'
  | 'InternalError'
  | 'ServerTimeout'
  | 'ServiceUnavailable'
  | 'Timeout';

/** HTTP status code of each reason. */
export const codes: Readonly<Record<Reason, number>> = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  UnsupportedMediaType: 415,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Expired: 410,
  RequestEntityTooLarge: 413,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServerTimeout: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
};

/** Single cause of an error. */
export interface StatusCause {
  /** Reason for the cause, as one word in CamelCase. */
  readonly reason?:
    | CauseReason
    | 'FieldManagerConflict'
    | 'NamespaceTerminating'
    | 'ResourceVersionTooLarge'
    | (string & {});
  /** Human-readable details. */
  readonly message?: string;
  /** Path of the field that caused the error, such as `spec.usages[0]`. */
  readonly field?: string;
}

/** Additional information about an error. */
export interface StatusDetails {
  /** Name of the object that the error is about. */
  readonly name?: string;
  /** API group of the resource that the error is about. */
  readonly group?: string;
  /** Resource in plural, or for reason Invalid the kind, that the error is about. */
  readonly kind?: string;
  /** UID of the object. */
  readonly uid?: string;
  /** Causes of the error, such as all fields that are invalid. */
  readonly causes?: readonly StatusCause[];
  /** Seconds after which the request should be retried. */
  readonly retryAfterSeconds?: number;
}

/** Result of a request that returns no other object (Status of meta/v1). */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
  /** Status of the operation: `Success` or `Failure`. */
  readonly status: 'Success' | 'Failure';
  /** Human-readable description of the result. */
  readonly message?: string;
  /** Reason for the failure, as one word in CamelCase. */
  readonly reason?: string;
  /** Additional information for the reason of the failure. */
  readonly details?: StatusDetails;
  /** HTTP status code of the response. */
  readonly code?: number;
}

/**
 * An error that the API returns to the caller. Programs should examine `reason` (undefined for untyped errors) or
 * `code`, never the text.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly reason: Reason | undefined;
  readonly code: number;
  readonly details: StatusDetails | undefined;
  /** A new continue token, if the token of a list has expired. */
  readonly continueToken: string | undefined;

  constructor(options: {
    readonly message: string;
    readonly reason?: Reason | undefined;
    readonly code?: number | undefined;
    readonly details?: StatusDetails | undefined;
    readonly continueToken?: string | undefined;
    readonly cause?: unknown;
  }) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = options.reason;
    this.code = options.code ?? (options.reason ? codes[options.reason] : 500);
    this.details = options.details;
    this.continueToken = options.continueToken;
  }

  /** Returns the Status object that is the body of the response. */
  toStatus(): Status {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.continueToken === undefined ? {} : { continue: this.continueToken },
      status: 'Failure',
      message: this.message,
      ...(this.reason === undefined ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    };
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const isReasonText = (value: unknown): value is Reason => typeof value === 'string' && Object.hasOwn(codes, value);

/** Returns the failure that a Status body reports. Any other body becomes an untyped error with this code and text. */
export function errorFromStatus(body: unknown, code: number, text: string): ApiError {
  if (!isObject(body) || body['kind'] !== 'Status') return untyped(text, code);
  const { reason, message, details, metadata } = body;
  return new ApiError({
    message: textOf(message) ?? text,
    ...(isReasonText(reason) ? { reason } : {}),
    code: typeof body['code'] === 'number' ? body['code'] : code,
    ...(isObject(details) ? { details } : {}),
    continueToken: isObject(metadata) ? textOf(metadata['continue']) : undefined,
  });
}

/** Whether an error is an ApiError with this reason, whether it was thrown in this process or received over HTTP. */
export const isReason = (error: unknown, reason: Reason): error is ApiError =>
  error instanceof ApiError && error.reason === reason;

/** The resource that an error is about, and the object if there is one. */
export interface ErrorSubject {
  readonly group: string;
  readonly plural: string;
  readonly name?: string | undefined;
}
const detailsOf = ({ group, plural, name }: ErrorSubject): StatusDetails => ({
  ...(name ? { name } : {}),
  ...(group ? { group } : {}),
  ...(plural ? { kind: plural } : {}),
});

/** 400: the request cannot be read or makes no sense. */
export const badRequest = (message: string): ApiError => new ApiError({ reason: 'BadRequest', message });
/** 401: the caller could not be authenticated. */
export const unauthorized = (): ApiError => new ApiError({ reason: 'Unauthorized', message: 'Unauthorized' });

/** 403: `plural.group "name" is forbidden: why`, or `forbidden: why` where a path names no resource. */
export const forbidden = (subject: ErrorSubject, message: string, causes?: readonly StatusCause[]): ApiError => {
  const resource = groupResource(subject);
  const target = subject.name ? `${resource} ${quote(subject.name)}` : resource;
  return new ApiError({
    reason: 'Forbidden',
    message: resource === '' ? `forbidden: ${message}` : `${target} is forbidden: ${message}`,
    details: { ...detailsOf(subject), ...(causes ? { causes } : {}) },
  });
};

/** 404: `plural.group "name" not found`. */
export const notFound = (subject: ErrorSubject): ApiError =>
  new ApiError({
    reason: 'NotFound',
    message: `${groupResource(subject)} ${quote(subject.name ?? '')} not found`,
    details: detailsOf(subject),
  });

/** 404: no such path, group, version or resource is served. */
export const noSuchResource = (): ApiError =>
  new ApiError({ reason: 'NotFound', message: statusTexts[404], details: {} });

/** 405: the path exists, but not for this HTTP method. */
export const methodNotAllowed = (): ApiError =>
  new ApiError({
    reason: 'MethodNotAllowed',
    message: statusTexts[405],
    details: {},
  });

/** 405: the kind does not support this verb. */
export const notSupportedVerb = (subject: ErrorSubject, action: string): ApiError =>
  new ApiError({
    reason: 'MethodNotAllowed',
    message: `${action} is not supported on resources of kind ${quote(groupResource(subject))}`,
    details: detailsOf({ group: subject.group, plural: subject.plural }),
  });

/** 406: there is no representation that the caller accepts. */
export const notAcceptable = (message: string, details?: StatusDetails): ApiError =>
  new ApiError({ reason: 'NotAcceptable', message, details });
/** 415: bodies of the media type that was sent are not accepted. */
export const unsupportedMediaType = (message: string, details?: StatusDetails): ApiError =>
  new ApiError({ reason: 'UnsupportedMediaType', message, details });

/** 409: an object with this name exists already. */
export const alreadyExists = (subject: ErrorSubject, options: ExistingObject = {}): ApiError =>
  new ApiError({
    reason: 'AlreadyExists',
    message: existsText(subject, options),
    details: detailsOf(subject),
  });

/** 409: no unused name was found for a `generateName`. */
export const nameNotGenerated = (subject: ErrorSubject, options: ExistingObject): ApiError =>
  new ApiError({
    reason: 'AlreadyExists',
    message: `${existsText(subject, options)}, the server was not able to generate a unique name for the object`,
    details: { ...detailsOf(subject), retryAfterSeconds: 1 },
  });

/** The state of the existing object that has the name. */
export interface ExistingObject {
  readonly terminating?: boolean;
}
const existsText = (subject: ErrorSubject, { terminating = false }: ExistingObject): string =>
  `${terminating ? 'object is being deleted: ' : ''}${groupResource(subject)} ${quote(subject.name ?? '')} already exists`;

/** 409: the object is not in the expected state; the caller should read it again and retry. */
export const conflict = (subject: ErrorSubject, message: string): ApiError =>
  new ApiError({
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${groupResource(subject)} ${quote(subject.name ?? '')}: ${message}`,
    details: detailsOf(subject),
  });

/** 409: the object was modified since the caller read it. */
export const staleWrite = (subject: ErrorSubject): ApiError =>
  conflict(subject, 'the object has been modified; please apply your changes to the latest version and try again');

/**
 * 410: the resource version is no longer kept. The caller should list again, or continue with `continueToken` from the
 * latest state.
 */
export const expired = (message: string, continueToken?: string): ApiError =>
  new ApiError({ reason: 'Expired', message, continueToken });

/** 413: the body or object is larger than the server reads or stores. */
export const entityTooLarge = (message: string): ApiError =>
  new ApiError({ reason: 'RequestEntityTooLarge', message: `Request entity too large: ${message}` });

/**
 * 422: validation failed. The error contains all violations: the message prints one bare, several as `[a, b]` without
 * duplicates; the causes contain all of them. In the message, the kind is followed by its group.
 */
export function invalidObject(
  subject: { readonly group: string; readonly kind: string; readonly name?: string | undefined },
  found: readonly Violation[],
): ApiError {
  const violations = limitViolations(found);
  const texts = violations.map(({ field, body }) => `${field}: ${body}`);
  const list = texts.length === 0 ? '' : `: ${aggregate(texts)}`;
  return new ApiError({
    reason: 'Invalid',
    message: `${groupKind(subject)} ${quote(subject.name ?? '')} is invalid${list}`,
    details: {
      ...(subject.name ? { name: subject.name } : {}),
      ...(subject.group ? { group: subject.group } : {}),
      ...(subject.kind ? { kind: subject.kind } : {}),
      ...(violations.length
        ? { causes: violations.map(({ reason, field, body }) => ({ reason, message: body, field })) }
        : {}),
    },
  });
}

/** 422: the general error of the server, without a cause. */
export const unprocessable = (): ApiError =>
  new ApiError({
    reason: 'Invalid',
    message: statusTexts[422],
    details: {},
  });

/** 429: the request is rejected for now and can be retried after this many seconds. */
export const tooManyRequests = (message: string, retryAfterSeconds: number): ApiError =>
  new ApiError({ reason: 'TooManyRequests', message, details: { retryAfterSeconds } });

/** 500: an internal error. `text` is sent to the caller; `cause` is only for logs. */
export const internalError = (text: string, cause?: unknown): ApiError =>
  new ApiError({
    reason: 'InternalError',
    message: `Internal error occurred: ${text}`,
    details: { causes: [{ message: text }] },
    cause,
  });

/** 504: the operation took too long; it may have been performed nevertheless. */
export const timeout = (message: string, details?: StatusDetails): ApiError =>
  new ApiError({ reason: 'Timeout', message: `Timeout: ${message}`, details });

/** 504: the deadline of the request passed before the request was completed. */
export const deadlineExceeded = (details?: StatusDetails): ApiError =>
  timeout('request did not complete within requested timeout - context deadline exceeded', details);

/** 503: something that the response needs is temporarily unavailable. */
export const serviceUnavailable = (message: string): ApiError =>
  new ApiError({ reason: 'ServiceUnavailable', message });

/** An error without a reason, as Kubernetes returns in some cases; by default with code 500. */
export const untyped = (message: string, code = 500): ApiError => new ApiError({ message, code });
