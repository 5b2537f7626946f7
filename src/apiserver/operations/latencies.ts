import { goDuration } from '../../api/go-text.js';
import type { WebhookStage } from '../../registry/resource-definition.js';

/** A part of a request whose time is measured separately. */
export type LatencyPart = 'authentication' | 'authorization' | 'impersonation' | WebhookStage;

/** The minimum duration of requests that are annotated in the audit log, in milliseconds. */
const longMs = 500;

/** The time that each part of one request takes, in milliseconds. */
export class Latencies {
  readonly #spent: Record<LatencyPart, number> = {
    authentication: 0,
    authorization: 0,
    impersonation: 0,
    'mutating-webhook': 0,
    'validating-webhook': 0,
  };

  took(part: LatencyPart, milliseconds: number): void {
    const before = this.#spent[part];
    // Validating webhooks are called in parallel.
    this.#spent[part] = part === 'validating-webhook' ? Math.max(before, milliseconds) : before + milliseconds;
  }

  /** The time that webhooks took. */
  get webhooks(): number {
    return this.#spent['mutating-webhook'] + this.#spent['validating-webhook'];
  }

  /** Returns the audit annotations for a request of this total time. */
  annotations(total: number): readonly (readonly [key: string, value: string])[] {
    if (total <= longMs) return [];
    const spent = Object.entries(this.#spent).filter(([, milliseconds]) => milliseconds > 0);
    return [...spent, ['total', total] as const].map(([part, milliseconds]) => [
      `apiserver.latency.k8s.io/${part}`,
      goDuration(milliseconds),
    ]);
  }
}
