import { goDuration } from '../../api/go-text.js';
import type { WebhookStage } from '../../registry/resource-definition.js';

/** What a request spends time on that is told apart. */
export type LatencyPart = 'authentication' | 'authorization' | 'impersonation' | WebhookStage;

/** Only requests that took longer say in the audit log where their time went. */
const longMs = 500;

/** Where the time of one request goes, in milliseconds. */
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
    // These are called side by side.
    this.#spent[part] = part === 'validating-webhook' ? Math.max(before, milliseconds) : before + milliseconds;
  }

  /** What webhooks took of it. */
  get webhooks(): number {
    return this.#spent['mutating-webhook'] + this.#spent['validating-webhook'];
  }

  /** What the audit log says of a request that took so long. */
  annotations(total: number): readonly (readonly [key: string, value: string])[] {
    if (total <= longMs) return [];
    const spent = Object.entries(this.#spent).filter(([, milliseconds]) => milliseconds > 0);
    return [...spent, ['total', total] as const].map(([part, milliseconds]) => [
      `apiserver.latency.k8s.io/${part}`,
      goDuration(milliseconds),
    ]);
  }
}
