import { kedgeNames } from '../../src/api/kedge-names.js';
import { type Namespace, Namespaces } from '../../src/api/kinds/namespace.js';
import type { ObjectCache } from '../../src/client/object-cache.js';
import type { ReconcileContext, ReconcileResult, Runnable } from '../../src/controller/controller.js';
import { defineKeyedController } from '../../src/controller/keyed-controller.js';
import { sharedCache } from '../../src/controller/shared-cache.js';
import { combineAnchors, type DroppedCertificate, UnfitSource } from './combine.js';
import { keepAll, kindsOfTargets, removeLeftovers, removeUnknown } from './keep.js';
import { textsOf } from './sources.js';
import { targetsOf } from './targets.js';
import { type TrustBundle, type TrustOptions, trustProblems } from './trust-bundle.js';

/** The bundles to distribute, and how often their sources are read. */
export interface TrustDistributorOptions extends TrustOptions {
  /** The interval at which the sources are read. Default a minute. */
  readonly refreshMs?: number;
  /** The name of the controller in log lines and metrics; must be unique in a manager. */
  readonly name?: string;
}

/**
 * Maintains bundles of trust anchors in ClusterTrustBundles, ConfigMaps and Secrets. Modified ones are repaired, ones
 * no longer configured are removed, and objects that others created under the same name are left alone. If a source
 * cannot be read, its targets are left unchanged; a target that cannot be written does not hold up others. Throws an
 * Error if a bundle is invalid.
 */
export function trustDistributor(options: TrustDistributorOptions): Runnable {
  const { refreshMs = 60_000, name = 'trust-distributor', ...trust } = options;
  const [problem] = trustProblems(trust);
  if (problem !== undefined) throw new Error(`trust: ${problem}`);
  const { bundles, owner = kedgeNames.trustOwner, secretTargets = false } = trust;
  return defineKeyedController<TrustBundle | undefined>(name, (context) => {
    const { client, signal, clock } = context;
    const dropped = new Map<string, string>();
    const known = new Set(bundles.map((bundle) => bundle.name));
    let namespaces: ObjectCache<Namespace> | undefined;
    const reconcile = async (bundle: TrustBundle | undefined): Promise<ReconcileResult> => {
      if (bundle === undefined) {
        await removeUnknown(context, { known, owner, secretTargets });
        return { requeueAfterMs: refreshMs };
      }
      await namespaces?.synced;
      // Without the list of namespaces it is unknown which of them are gone.
      signal.throwIfAborted();
      const texts = await textsOf(client, bundle, bundles);
      const combined = combineAnchors(texts, clock.now());
      tellDropped(bundle, combined.dropped, dropped, context);
      if (combined.bundle === '') throw new UnfitSource(`bundle ${bundle.name}: no anchors remain`);
      const targets = targetsOf(bundle, { text: combined.bundle, owner, namespaces: namespaces?.list() ?? [] });
      const failures = await keepAll(targets, { owner, bundle: bundle.name }, context);
      await removeLeftovers(context, { bundle: bundle.name, targets, owner, secretTargets });
      if (failures.length > 0) throw new PartlyDistributed(bundle.name, failures, targets.length);
      return { requeueAfterMs: refreshMs };
    };
    return {
      identity: (bundle) => bundle?.name ?? '',
      backoff: { baseMs: 200, capMs: refreshMs },
      start(wake) {
        const all = (cause: string): void => {
          for (const bundle of bundles) wake(bundle, cause);
        };
        namespaces = sharedCache(context, Namespaces);
        namespaces.changes.subscribe(({ type }) => all(`namespace ${type}`));
        const labelSelector = `${kedgeNames.trustOwnerLabel}=${owner}`;
        for (const type of kindsOfTargets(secretTargets)) {
          sharedCache(context, type, { labelSelector }).changes.subscribe(({ object, type: change }) => {
            const marked = object.metadata.labels?.[kedgeNames.trustBundleLabel];
            wake(
              bundles.find((bundle) => bundle.name === marked),
              `target ${change}`,
            );
          });
        }
        all('start');
        wake(undefined, 'start');
      },
      reconcile,
    };
  });
}

/** Logs once which certificates are left out. */
function tellDropped(
  bundle: TrustBundle,
  dropped: readonly DroppedCertificate[],
  reported: Map<string, string>,
  { log }: ReconcileContext,
): void {
  const text = JSON.stringify(dropped);
  if (reported.get(bundle.name) === text) return;
  reported.set(bundle.name, text);
  for (const { from, subject, why } of dropped)
    log.warn({ bundle: bundle.name, from, subject, why }, 'dropped an anchor');
}

class PartlyDistributed extends AggregateError {
  override readonly name = 'PartlyDistributed';

  constructor(bundle: string, failures: readonly { readonly at: string; readonly error: unknown }[], all: number) {
    const [first] = failures;
    const reason = first?.error instanceof Error ? first.error.message : String(first?.error);
    const errors = failures.map(({ error }) => error);
    super(
      errors,
      `bundle ${bundle}: ${failures.length} of ${all} targets could not be written: ${first?.at}: ${reason}`,
    );
  }
}
