import { type Domains, defaultDomains, signerKeyIn } from '../../src/api/domains.js';
import { isReason } from '../../src/api/errors.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Pods } from '../../src/api/kinds/pod.js';
import { legacyTokenInvalidSinceLabel, legacyTokenTracking, Secrets, secretTypes } from '../../src/api/kinds/secret.js';
import { ServiceAccounts } from '../../src/api/kinds/service-account.js';
import { keyOf, keyText } from '../../src/api/object.js';
import { dateText } from '../../src/api/time.js';
import type { ReconcileContext, Runnable } from '../../src/controller/controller.js';
import { fieldManagers } from '../../src/controller/field-manager.js';
import { defineKeyedController } from '../../src/controller/keyed-controller.js';
import { decide, type TokenAction } from './decide.js';

/** When unused tokens in Secrets are removed. */
export interface LegacyTokenCleanerOptions {
  readonly domains?: Domains;
  /** How long a token must have been unused. Default a year. */
  readonly periodMs?: number;
  /** The interval at which tokens are checked. Default a day. */
  readonly intervalMs?: number;
}

const name = 'legacy-token-cleaner';
const day = 86_400_000;

/** Invalidates and deletes unused tokens that the server once created by itself. */
export const legacyTokenCleaner = (options: LegacyTokenCleanerOptions = {}): Runnable =>
  defineKeyedController<'tokens'>(name, (context) => ({
    identity: (tokens) => tokens,
    backoff: { baseMs: 1_000, capMs: options.intervalMs ?? day },
    start: (wake) => wake('tokens', 'start'),
    async reconcile() {
      await clean(options, context);
      return { requeueAfterMs: options.intervalMs ?? day };
    },
  }));

async function clean(
  { domains = defaultDomains, periodMs = 365 * day }: LegacyTokenCleanerOptions,
  context: ReconcileContext,
): Promise<void> {
  const { client, clock } = context;
  const tracking = await client.resource(ConfigMaps).get(legacyTokenTracking);
  const trackedSince = tracking?.data?.['since'] ?? '';
  const now = clock.now();
  // If there are no tokens, as is usual, nothing else needs to be read.
  const tokensOnly = `type=${signerKeyIn(domains, secretTypes.serviceAccountToken)}`;
  const { items: secrets } = await client.resource(Secrets).list({ fieldSelector: tokensOnly });
  if (secrets.length === 0) return;
  const [{ items: accounts }, { items: pods }] = await Promise.all([
    client.resource(ServiceAccounts).list(),
    client.resource(Pods).list(),
  ]);
  const cleanings = decide({ secrets, accounts, pods }, { now, trackedSince, periodMs, domains });
  for (const cleaning of cleanings) {
    context.signal.throwIfAborted();
    await applyAction(cleaning, dateText(now), domains, context).catch((error: unknown) => {
      if (isReason(error, 'Conflict') || isReason(error, 'NotFound')) return;
      const object = keyText(keyOf(cleaning.secret));
      context.log.warn({ object, action: cleaning.action, err: error }, 'could not clean up a legacy token');
    });
  }
}

async function applyAction(
  { action, secret }: TokenAction,
  today: string,
  domains: Domains,
  { client, log }: ReconcileContext,
): Promise<void> {
  const { uid = '', resourceVersion = '' } = secret.metadata;
  const secrets = client.resource(Secrets);
  const key = keyOf(secret);
  if (action === 'delete') {
    await secrets.delete(key, { preconditions: { resourceVersion } });
    log.info({ object: keyText(key) }, 'deleted an unused legacy token');
    return;
  }
  const labels = { [signerKeyIn(domains, legacyTokenInvalidSinceLabel)]: today };
  await secrets.patch(
    key,
    { type: 'merge', body: { metadata: { uid, labels } } },
    { fieldManager: fieldManagers.controllers },
  );
  log.info({ object: keyText(key), invalidSince: today }, 'marked an unused legacy token as invalid');
}
