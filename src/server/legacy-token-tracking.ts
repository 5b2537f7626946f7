import { type Domains, signerKeyIn } from '../api/domains.js';
import { isReason } from '../api/errors.js';
import { legacyTokenLastUsedLabel, legacyTokenTracking, type Secret, Secrets } from '../api/kinds/secret.js';
import { keyOf, keyText } from '../api/object.js';
import { isDate } from '../api/string-formats.js';
import { dateText } from '../api/time.js';
import type { Client } from '../client/client.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { ensureConfigMap } from './ensure-config-map.js';

/** Records when tokens in Secrets are used, so that unused ones can be found. */

const day = 86_400_000;

interface TrackingOptions {
  /** Returns a client with the rights of the server itself. */
  client(): Client;
  readonly domains: Domains;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Writes the day of the use into a label of the Secret, once a day. The caller does not wait for this, and a failure is
 * only logged, because it must not affect the request.
 */
export function recordTokenUse({ client, domains, clock, log }: TrackingOptions): (secret: Secret) => void {
  const label = signerKeyIn(domains, legacyTokenLastUsedLabel);
  const underway = new Set<string>();
  return (secret) => {
    const { uid = '', labels = {} } = secret.metadata;
    const now = clock.now();
    const known = labels[label];
    // The clock of another server may be ahead; the label must not change back and forth at midnight.
    if (known === dateText(now) || known === dateText(now + day) || underway.has(uid)) return;
    underway.add(uid);
    const body = { metadata: { uid, labels: { [label]: dateText(now) } } };
    client()
      .resource(Secrets)
      .patch(keyOf(secret), { type: 'merge', body }, { fieldManager: 'kube-apiserver' })
      .catch((error: unknown) => {
        if (isReason(error, 'NotFound') || isReason(error, 'Conflict')) return;
        log.warn({ object: keyText(keyOf(secret)), err: error }, 'could not record the use of a legacy token');
      })
      .finally(() => underway.delete(uid));
  };
}

/** Ensures that the ConfigMap contains the day since which uses are recorded: today, if it contains no valid date. */
export const ensureTokenTracking = ({ client, clock }: Pick<TrackingOptions, 'client' | 'clock'>): Promise<void> =>
  ensureConfigMap(client(), legacyTokenTracking, ({ since = '' }) =>
    isDate(since) && since <= dateText(clock.now() + day) ? undefined : { since: dateText(clock.now()) },
  );
