import { messageOf } from '../api/message-of.js';
import type { AuditBackend, AuditLog } from '../apiserver/operations/audit-log.js';
import type { AuditPolicy } from '../apiserver/operations/audit-policy.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { Metrics } from '../runtime/metrics.js';
import { type LineSink, openRotatingFile, type RotatingFileOptions, streamSink } from '../runtime/rotating-file.js';
import { followText, type TextSource } from '../runtime/text-source.js';
import { kubeconfigTransport } from './kubeconfig-transport.js';
import { optionDefaults } from './option-defaults.js';

/** Options of the audit log: what is recorded, and where. */
export interface AuditOptions {
  /** Audit policy (`audit.k8s.io/v1`), as YAML or JSON. Read again when its file changes. */
  readonly policy: TextSource;
  /**
   * File for events, one JSON object per line; `-` is standard output. If it is empty or absent, `webhook` is required.
   */
  readonly logFile?: string;
  /** Megabytes after which a new file is begun, 100 by default; 0 for never. */
  readonly maxSizeMb?: number;
  /** Number of full files to keep; 10 by default. */
  readonly maxBackups?: number;
  /** Days after which a full file is removed, checked when the next file is begun; 0 (the default) for never. */
  readonly maxAgeDays?: number;
  /**
   * Kubeconfig file of a server to which events are posted, and how long events wait to be posted together (30 seconds
   * by default).
   */
  readonly webhook?: { readonly kubeconfig: string; readonly waitSeconds?: number };
}

interface Parts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly metrics: Metrics;
}

/** Opens the audit log. Rejects if the policy is invalid or the events have no usable destination. */
export async function openAudit(options: AuditOptions, parts: Parts): Promise<AuditLog> {
  const { logFile = '', webhook } = options;
  if (logFile === '' && webhook === undefined)
    throw new Error('audit events have no destination: neither logFile nor webhook is set');
  const [{ readAuditPolicy }, { AuditLog, lineBackend }] = await Promise.all([
    import('../apiserver/operations/audit-policy.js'),
    import('../apiserver/operations/audit-log.js'),
  ]);
  let policy: AuditPolicy = { rules: [] };
  await followText(
    options.policy,
    async (text) => {
      policy = await readAuditPolicy(text);
    },
    parts,
  ).catch((error: unknown) => {
    throw new Error(`the audit policy cannot be used: ${messageOf(error)}`, {
      cause: error,
    });
  });
  const lose = (plugin: string, where: object) => (error: unknown, lost: number) => {
    parts.log.error({ err: error, ...where, lost }, 'audit events were lost');
    audit.lost(plugin, lost);
  };
  const backends: AuditBackend[] = [];
  if (webhook !== undefined) backends.push(await openWebhook(webhook, parts.clock, lose('webhook', webhook)));
  if (logFile !== '') {
    const callbacks = {
      onFailure: lose('log', { file: logFile }),
      onExposed: (error: unknown) =>
        parts.log.warn({ err: error, file: logFile }, 'other users can read the audit log'),
    };
    backends.push(lineBackend(await openSink(logFile, options, { ...callbacks, now: () => parts.clock.now() })));
  }
  const audit = new AuditLog(() => policy, backends, parts);
  return audit;
}

async function openWebhook(
  { kubeconfig, waitSeconds = optionDefaults.auditWaitSeconds }: NonNullable<AuditOptions['webhook']>,
  clock: Clock,
  onFailure: (error: unknown, lost: number) => void,
): Promise<AuditBackend> {
  const { AuditWebhook } = await import('../apiserver/operations/audit-webhook.js');
  const transport = await kubeconfigTransport('audit.webhook.kubeconfig', kubeconfig);
  return new AuditWebhook({ transport, clock, waitMs: waitSeconds * 1_000, onFailure });
}

async function openSink(
  path: string,
  options: AuditOptions,
  callbacks: Required<Pick<RotatingFileOptions, 'onFailure' | 'onExposed' | 'now'>>,
): Promise<LineSink> {
  if (path === '-') return streamSink(process.stdout);
  const { maxSizeMb, maxBackups, maxAgeDays } = { ...optionDefaults.audit, ...options };
  try {
    return await openRotatingFile({
      path,
      maxBytes: maxSizeMb * 1024 * 1024,
      maxBackups,
      maxAgeMs: maxAgeDays * 86_400_000,
      ...callbacks,
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(`cannot write the audit log ${path}: ${code ?? message}`, { cause: error });
  }
}
