import { type ServiceError, status } from '@grpc/grpc-js';
import { StoreUnavailable } from '../store-unavailable.js';

/** Thrown when etcd reports that a revision is compacted, or has not happened yet. */
export class RevisionOutOfRange extends Error {
  override readonly name = 'RevisionOutOfRange';
  readonly why: 'compacted' | 'future';
  constructor(why: 'compacted' | 'future') {
    super(`the revision is ${why === 'compacted' ? 'compacted' : 'in the future'}`);
    this.why = why;
  }
}

/** Thrown when etcd refused a request because the token is missing or no longer valid. */
export class Unauthenticated extends Error {
  override readonly name = 'Unauthenticated';
}

/** Whether the member failed rather than refused the request. Null stands for a stream that the member ended. */
export const isTransport = (error: ServiceError | null): boolean =>
  error === null || error.code === status.UNAVAILABLE || error.code === status.DEADLINE_EXCEEDED;

/** etcd's errors for requests without a valid token; such a request had no effect. */
const unauthenticated: ReadonlySet<string> = new Set([
  'etcdserver: user name is empty',
  'etcdserver: invalid auth token',
  'etcdserver: revision of auth store is old',
]);
/** etcd's error for a login while authentication is disabled. */
export const notEnabled = 'etcdserver: authentication is not enabled';

const refusals: ReadonlySet<status> = new Set([
  status.INVALID_ARGUMENT,
  status.RESOURCE_EXHAUSTED,
  status.FAILED_PRECONDITION,
]);

/**
 * Returns a function that maps a failure of the etcd at these endpoints to the error to report; `connection` describes the
 * connection if etcd does not answer.
 */
export const failureOf =
  (where: string, connection: string) =>
  (error: ServiceError | null): Error => {
    if (error === null) return new StoreUnavailable(`etcd at ${where} ended the answer early`);
    const { code, details } = error;
    if (code === status.OUT_OF_RANGE)
      return new RevisionOutOfRange(details.includes('compacted') ? 'compacted' : 'future');
    if (unauthenticated.has(details))
      return new Unauthenticated(`etcd at ${where} requires a user (etcd.user): ${details}`);
    if (code === status.PERMISSION_DENIED) return new Error(`etcd at ${where} does not allow it: ${details}`);
    // For example, a document is too large, or etcd has no space left: etcd does answer.
    if (refusals.has(code)) return new Error(details, { cause: error });
    // The library appends notes of its resolver, which are empty for most addresses.
    const message = details.replace(/\. Resolution note: $/, '');
    return new StoreUnavailable(`etcd at ${where} does not answer${connection}: ${message}`, { cause: error });
  };
