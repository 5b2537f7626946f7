import type { Clock } from './clock.js';
import { hashOf, LastOutcomes, outcome } from './last-outcomes.js';
import type { Metrics } from './metrics.js';
import { type FollowOptions, followText, type TextSource } from './text-source.js';

/** Reports the configuration text now in use; undefined if a new text could not be used. */
export type ReportConfiguration = (text: string | undefined, when: 'at start' | 'later') => void;

/** The metrics of kube-apiserver about a configuration that is read again when its file changes. */
export function configurationMetrics(
  metrics: Metrics,
  {
    kind,
    prefix,
    clock,
    serverId,
  }: {
    readonly kind: string;
    /** The prefix of the metrics' names. */
    readonly prefix: string;
    readonly clock: Clock;
    /** Distinguishes servers that are scraped together. */
    readonly serverId: string;
  },
): ReportConfiguration {
  const server = { apiserver_id_hash: hashOf(serverId) };
  const last = new LastOutcomes(clock);
  const reloads = metrics.counter({
    name: `${prefix}_automatic_reloads_total`,
    help: `${kind}s loaded while the server was running, by result.`,
    labels: ['apiserver_id_hash', 'status'],
  });
  metrics.measured(
    {
      name: `${prefix}_automatic_reload_last_timestamp_seconds`,
      help: `When an ${kind} was last loaded while the server was running, in seconds since 1970.`,
      labels: ['apiserver_id_hash', 'status'],
    },
    async () => last.times.map(([status, value]) => ({ labels: { ...server, status }, value })),
  );
  metrics.measured(
    {
      name: `${prefix}_last_config_info`,
      help: `Always 1; the label hash identifies the ${kind} in use.`,
      labels: ['apiserver_id_hash', 'hash'],
    },
    async () => (last.hash === undefined ? [] : [{ labels: { ...server, hash: last.hash }, value: 1 }]),
  );
  return (text, when) => {
    if (when === 'at start') {
      if (text !== undefined) last.begin(text);
      return;
    }
    last.tell(text);
    reloads.add({ ...server, status: outcome(text !== undefined) });
  };
}

/** Follows a configuration as `followText` does, and reports the outcome of each reload and when the file is unreadable. */
export function followConfiguration(
  source: TextSource,
  take: (text: string, isFirst: boolean) => Promise<void>,
  { tell, ...following }: FollowOptions & { readonly tell: ReportConfiguration | undefined },
): Promise<void> {
  let isFirst = true;
  const takeCounted = async (text: string): Promise<void> => {
    const when = isFirst ? 'at start' : 'later';
    try {
      await take(text, isFirst);
      tell?.(text, when);
    } catch (error) {
      tell?.(undefined, when);
      throw error;
    } finally {
      isFirst = false;
    }
  };
  return followText(source, takeCounted, { ...following, unreadable: () => tell?.(undefined, 'later') });
}
