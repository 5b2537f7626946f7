import type { UserInfo } from '../../api/user.js';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../runtime/logger.js';
import type { Metrics } from '../../runtime/metrics.js';
import type { LineSink } from '../../runtime/rotating-file.js';
import type { ApiRequest } from '../request.js';
import { type AuditFacts, auditEvent, auditLine } from './audit-event.js';
import { type AuditPolicy, type Level, requirementOf, type Stage } from './audit-policy.js';
import { AuditRecord } from './audit-record.js';

/** A destination for audit events. Events are passed as they are written in a list. */
export interface AuditBackend {
  /** The name of the plugin in Kubernetes: `log` or `webhook`. */
  readonly plugin: string;
  /** Writes an event. Returns false if it was dropped. */
  write(event: string): boolean;
  /** Writes the remaining events, as far as possible. */
  close(): Promise<void>;
}

/** A backend that writes lines. */
export const lineBackend = (sink: LineSink): AuditBackend => ({
  plugin: 'log',
  write: (event) => sink.write(auditLine(event)),
  close: () => sink.close(),
});

/**
 * Records requests as the policy requires. No request waits for this: events that cannot be written are dropped and
 * counted.
 */
export class AuditLog {
  readonly #policy: () => AuditPolicy;
  readonly #backends: readonly AuditBackend[];
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #events: { add(): void };
  readonly #errors: (plugin: string) => { add(by?: number): void };
  readonly #levels: (level: Level) => { add(): void };
  readonly #dropping = new Set<AuditBackend>();

  /** `policy` is called for every request. */
  constructor(
    policy: () => AuditPolicy,
    backends: readonly AuditBackend[],
    options: { readonly clock: Clock; readonly log: Logger; readonly metrics: Metrics },
  ) {
    this.#policy = policy;
    this.#backends = backends;
    this.#clock = options.clock;
    this.#log = options.log;
    const { metrics } = options;
    const events = metrics.counter({ name: 'apiserver_audit_event_total', help: 'Audit events generated.' });
    const errors = metrics.counter({
      name: 'apiserver_audit_error_total',
      help: 'Audit events that could not be written.',
      labels: ['plugin'],
    });
    const perLevel = metrics.counter({
      name: 'apiserver_audit_level_total',
      help: 'Requests, by audit level.',
      labels: ['level'],
    });
    this.#events = events.of({});
    this.#errors = (plugin) => errors.of({ plugin });
    for (const { plugin } of backends) this.#errors(plugin);
    this.#levels = (level) => perLevel.of({ level });
  }

  /**
   * Begins the record of a request; returns undefined if the policy requires none. `user` is undefined if the caller
   * was not authenticated.
   */
  begin(request: ApiRequest, user: UserInfo | undefined, received: number): AuditRecord | undefined {
    const required = requirementOf(this.#policy(), request.info, user);
    this.#levels(required?.level ?? 'None').add();
    if (required === undefined) return undefined;
    return new AuditRecord(request, user, {
      required,
      received,
      write: (stage, facts) => this.#write(stage, facts),
      failed: (error) => this.#log.error({ err: error, auditId: request.auditId }, 'audit event failed'),
    });
  }

  /** Counts events that a backend accepted and could not write. */
  lost(plugin: string, events: number): void {
    this.#errors(plugin).add(events);
  }

  async close(): Promise<void> {
    await Promise.all(this.#backends.map((backend) => backend.close()));
  }

  #write(stage: Stage, facts: AuditFacts): void {
    this.#events.add();
    const now = stage === 'RequestReceived' ? facts.received : this.#clock.now();
    const event = auditEvent(stage, now, facts);
    for (const backend of this.#backends) {
      if (backend.write(event)) this.#wrote(backend);
      else this.#dropped(backend, facts.auditId);
    }
  }

  #wrote(backend: AuditBackend): void {
    if (this.#dropping.delete(backend))
      this.#log.info({ plugin: backend.plugin }, 'audit events are being written again');
  }

  #dropped(backend: AuditBackend, auditId: string): void {
    const { plugin } = backend;
    this.#errors(plugin).add();
    if (!this.#dropping.has(backend)) this.#log.error({ plugin, auditId }, 'audit events are dropped');
    this.#dropping.add(backend);
  }
}
