import { type ApiError, deadlineExceeded } from '../../api/errors.js';
import type { UserInfo } from '../../api/user.js';
import type { Authenticated, AuthenticationError } from '../../auth/authenticator.js';
import type { Decision } from '../../auth/authorizer.js';
import type { Impersonated } from '../../auth/impersonation.js';
import { Observable } from '../../runtime/observable.js';
import type { ApiRequest, ApiResponse, Outcome, Result, WatchResult } from '../request.js';
import type { AuditRecord } from './audit-record.js';
import { isLongRunning, kindOf } from './in-flight.js';
import { Latencies } from './latencies.js';
import type { Operations } from './operations.js';
import { scopeOf } from './request-labels.js';

/** The result that is recorded for a request that timed out, as in Kubernetes. */
const late = resultOf(deadlineExceeded({}));

/**
 * Tracks one request through the pipeline: reports each step, and its end once, to metrics, audit log and in-flight
 * limits.
 */
export class RequestTracker {
  readonly #operations: Operations;
  readonly #request: ApiRequest;
  readonly #received: number;
  readonly #start: number;
  readonly #latencies = new Latencies();
  #record: AuditRecord | undefined;
  #leave: (() => void) | undefined;
  #panic: unknown;
  #isLate = false;
  #deadline: number | undefined;
  #isOver = false;

  constructor(operations: Operations, request: ApiRequest) {
    this.#operations = operations;
    this.#request = request;
    this.#received = operations.clock.now();
    this.#start = operations.clock.monotonic();
    request.latencies = this.#latencies;
  }

  /** The audit record; undefined if the request is not audited. */
  get record(): AuditRecord | undefined {
    return this.#record;
  }

  /** Records that the caller was authenticated. */
  authenticated({ user, annotations = {} }: Pick<Authenticated, 'user' | 'annotations'>): void {
    this.#operations.metrics?.authenticated('success', this.#seconds(), user.username);
    this.#latencies.took('authentication', this.#milliseconds());
    this.#begin(user);
    if (this.#record === undefined) return;
    for (const [key, value] of Object.entries(annotations)) this.#record.annotate(key, value);
  }

  /** Records that the request comes from this process, which vouches for the user. */
  authenticatedLocally(user: UserInfo): void {
    this.#begin(user);
  }

  /** Records that authentication failed. `refused` says why the credentials are invalid. */
  unauthenticated(error: ApiError, refused: AuthenticationError | undefined): void {
    this.#operations.metrics?.authenticated(refused === undefined ? 'failure' : 'error', this.#seconds(), '');
    this.#unidentified(error, refused?.annotations);
  }

  /** Records that the request was refused before authentication. */
  refusedUnauthenticated(error: ApiError): void {
    this.#unidentified(error);
  }

  /** Records that the request timed out before authentication. */
  expiredUnauthenticated(): void {
    this.#operations.metrics?.of(this.#request).terminated(504);
    this.#unidentified(deadlineExceeded({}));
  }

  /** Records that impersonation was allowed, or refused (undefined), and how many milliseconds that took. */
  impersonating(impersonated: Impersonated | undefined, milliseconds: number): void {
    this.#operations.impersonations?.attempted(impersonated, milliseconds);
    this.#latencies.took('impersonation', milliseconds);
    if (impersonated !== undefined) this.#record?.impersonating(impersonated);
  }

  /** Admits the request; returns false if too many are in flight. Requests of this process are not counted. */
  enter(user: UserInfo): boolean {
    const { inFlight, metrics } = this.#operations;
    const { info, caller, uri } = this.#request;
    if (inFlight === undefined || 'user' in caller) return true;
    this.#leave = isLongRunning(info)
      ? inFlight.enterWatch(user, uri)
      : inFlight.enter(kindOf(info.verb), user, this.#operations.clock.monotonic());
    if (this.#leave !== undefined) return true;
    metrics?.of(this.#request).terminated(429);
    return false;
  }

  /** Records the decision of the authorizer, and how many milliseconds it took. */
  authorized(decision: Decision, milliseconds: number): void {
    this.#operations.metrics?.authorized(decision.verdict, milliseconds / 1_000);
    this.#latencies.took('authorization', milliseconds);
    this.#record?.decided(decision);
  }

  /** Records an unexpected error. */
  panicked(error: unknown): void {
    this.#panic = error ?? new Error('unknown');
  }

  /** Sets the deadline, in milliseconds from now. */
  setDeadline(milliseconds: number): void {
    this.#deadline = this.#operations.clock.monotonic() + milliseconds;
  }

  /** Records that the request timed out. Its work continues, and counts as in flight until it ends. */
  expired(work: Promise<unknown>): void {
    this.#isLate = true;
    this.#operations.metrics?.of(this.#request).terminated(504);
    const leave = (): void => this.#leave?.();
    void work.then(leave, leave);
  }

  /** Returns the response with callbacks that report its end. A watch that has begun reports its own end. */
  tracked(response: ApiResponse): ApiResponse {
    const { result } = response;
    const onSettled = (outcome: Outcome): void => this.#settle(outcome);
    if (result.type === 'watch') return { ...response, result: this.#trackedWatch(result), onSettled };
    this.#record?.answered(this.#isLate ? late : result);
    return { ...response, deadline: this.#deadline, onSettled };
  }

  #trackedWatch(result: WatchResult): WatchResult {
    const { metrics } = this.#operations;
    const scope = scopeOf(this.#request.info);
    const series = metrics?.watchOf(result.definition, scope);
    return {
      ...result,
      events: new Observable((subscriber) => {
        const stopped = metrics?.of(this.#request).running();
        this.#record?.started();
        subscriber.add(() => {
          stopped?.();
          this.#settle({ code: 200, bytes: 0 });
        });
        return result.events.subscribe(subscriber);
      }),
      ...(series === undefined
        ? {}
        : {
            onSent: (item, bytes) => {
              series.event(bytes, 'initial' in item);
              if (item.type === 'BOOKMARK' && item.initialEventsEnd) {
                series.initialised(this.#seconds());
              }
            },
          }),
    };
  }

  #settle({ code, bytes, isAborted }: Outcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (!this.#isLate) this.#leave?.();
    const series = this.#operations.metrics?.of(this.#request);
    series?.answered(code, this.#seconds(), bytes, this.#latencies.webhooks / 1_000);
    if (isAborted) series?.aborted();
    if (this.#record === undefined) return;
    if (this.#panic !== undefined) {
      this.#record.panicked(this.#panic);
      return;
    }
    // The duration of a watch is of no interest.
    if (this.#request.info.verb !== 'watch') {
      for (const [key, value] of this.#latencies.annotations(this.#milliseconds())) this.#record.annotate(key, value);
    }
    void this.#record.complete(code);
  }

  #begin(user: UserInfo): void {
    this.#record = this.#operations.audit?.begin(this.#request, user, this.#received);
    this.#record?.received();
  }

  #unidentified(error: ApiError, annotations: Readonly<Record<string, string>> = {}): void {
    const record = this.#operations.audit?.begin(this.#request, undefined, this.#received);
    for (const [key, value] of Object.entries(annotations)) record?.annotate(key, value);
    void record?.unidentified(resultOf(error));
  }

  #milliseconds(): number {
    return this.#operations.clock.monotonic() - this.#start;
  }

  #seconds(): number {
    return this.#milliseconds() / 1_000;
  }
}

/**
 * Wraps a handler for callers in this process: a response other than a watch is complete as soon as the caller has it.
 */
export const settlingAtOnce =
  (handle: (request: ApiRequest) => Promise<ApiResponse>) =>
  async (request: ApiRequest): Promise<ApiResponse> => {
    const response = await handle(request);
    if (response.result.type !== 'watch') response.onSettled?.({ code: codeOf(response.result), bytes: 0 });
    return response;
  };

const codeOf = (result: Result): number => ('code' in result ? result.code : 200);

function resultOf(error: ApiError): Result {
  return { type: 'object', code: error.code, object: error.toStatus() };
}
