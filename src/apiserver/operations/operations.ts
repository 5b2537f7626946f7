import { timeout } from '../../api/errors.js';
import { entitiesFor, quote } from '../../api/go-text.js';
import type { Clock } from '../../runtime/clock.js';
import type { Headers, TextResult } from '../request.js';
import type { AuditLog } from './audit-log.js';
import type { Deadlines } from './deadlines.js';
import type { ImpersonationMetrics } from './impersonation-metrics.js';
import type { InFlight } from './in-flight.js';
import type { RequestMetrics } from './request-metrics.js';

/** Metrics, audit log, limits and deadlines for requests; absent members are off. */
export interface Operations {
  readonly clock: Clock;
  readonly metrics?: RequestMetrics | undefined;
  readonly impersonations?: ImpersonationMetrics | undefined;
  readonly audit?: AuditLog | undefined;
  readonly inFlight?: InFlight | undefined;
  readonly deadlines?: Deadlines | undefined;
  /** True once the server takes no further requests over the network. */
  closing(): boolean;
}

const nosniff: Headers = { 'X-Content-Type-Options': 'nosniff' };
const plainText = (code: number, text: string, headers: Headers = {}): TextResult => ({
  type: 'text',
  code,
  text: `${text}\n`,
  headers: { ...nosniff, ...headers },
});

/** Too many requests are in flight. */
export const tooManyRequests = plainText(429, 'Too many requests, please try again later.', { 'Retry-After': '1' });

/** The server is shutting down; another one may serve the request. */
export const shuttingDown = plainText(429, 'The apiserver is shutting down, please try again later.', {
  'Retry-After': '5',
  Connection: 'close',
});

/** The authorizer failed to decide. `uri` is that of the request. */
export const authorizationFailed = (uri: string, error: string): TextResult =>
  plainText(500, entitiesFor(`Internal Server Error: ${quote(uri)}: ${error}`));

/** An unexpected error. Its details go to the log only. */
export const panicked = plainText(500, 'This request caused apiserver to panic. Look in the logs for details.');

const {
  kind: _kind,
  apiVersion: _version,
  ...late
} = timeout('request did not complete within the allotted timeout', {}).toStatus();
/** A request took longer than it may. Kubernetes writes this Status without its type, and as text. */
export const timedOut: TextResult = { type: 'text', code: 504, text: `${JSON.stringify(late)}\n` };

/** Paths whose requests have no deadline. */
const alwaysAnswered = /^\/(?:readyz|livez|healthz|metrics)/;
export const isAlwaysAnswered = (path: string): boolean => alwaysAnswered.test(path);
