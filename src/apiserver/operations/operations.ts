import { timeout } from '../../api/errors.js';
import { entitiesFor, quote } from '../../api/go-text.js';
import type { Clock } from '../../runtime/clock.js';
import type { Headers, TextResult } from '../request.js';
import type { AuditLog } from './audit-log.js';
import type { Deadlines } from './deadlines.js';
import type { ImpersonationMetrics } from './impersonation-metrics.js';
import type { InFlight } from './in-flight.js';
import type { RequestMetrics } from './request-metrics.js';

/** Metrics, audit log, limits and deadlines of requests; those that are absent are disabled. */
export interface Operations {
  readonly clock: Clock;
  readonly metrics?: RequestMetrics | undefined;
  readonly impersonations?: ImpersonationMetrics | undefined;
  readonly audit?: AuditLog | undefined;
  readonly inFlight?: InFlight | undefined;
  readonly deadlines?: Deadlines | undefined;
  /** Whether the server accepts no more requests over the network. */
  closing(): boolean;
}

const nosniff: Headers = { 'X-Content-Type-Options': 'nosniff' };
const plainText = (code: number, text: string, headers: Headers = {}): TextResult => ({
  type: 'text',
  code,
  text: `${text}\n`,
  headers: { ...nosniff, ...headers },
});

/** The response if too many requests are in flight. */
export const tooManyRequests = plainText(429, 'Too many requests, please try again later.', { 'Retry-After': '1' });

/** The response of a server that is shutting down; another server may handle the request. */
export const shuttingDown = plainText(429, 'The apiserver is shutting down, please try again later.', {
  'Retry-After': '5',
  Connection: 'close',
});

/** Returns the response if the authorizer failed to decide. `uri` is that of the request. */
export const authorizationFailed = (uri: string, error: string): TextResult =>
  plainText(500, entitiesFor(`Internal Server Error: ${quote(uri)}: ${error}`));

/** The response to an unexpected error. Its details are only in the log. */
export const panicked = plainText(500, 'This request caused apiserver to panic. Look in the logs for details.');

const {
  kind: _kind,
  apiVersion: _version,
  ...late
} = timeout('request did not complete within the allotted timeout', {}).toStatus();
/** The response to a request that took too long. As in Kubernetes, this is a Status without its type, as text. */
export const timedOut: TextResult = { type: 'text', code: 504, text: `${JSON.stringify(late)}\n` };

/** Matches the paths whose requests have no deadline. */
const alwaysAnswered = /^\/(?:readyz|livez|healthz|metrics)/;
export const isAlwaysAnswered = (path: string): boolean => alwaysAnswered.test(path);
