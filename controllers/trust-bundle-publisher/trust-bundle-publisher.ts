import { ClusterTrustBundles } from '../../src/api/kinds/cluster-trust-bundle.js';
import { groupVersion } from '../../src/api/object.js';
import { isSignerDomain } from '../../src/api/signer-name.js';
import { bundleName } from '../../src/controller/bundle-name.js';
import type { ReconcileContext, Runnable } from '../../src/controller/controller.js';
import { deleteIfPresent } from '../../src/controller/delete-if-present.js';
import { fieldManagers } from '../../src/controller/field-manager.js';
import { defineKeyedController } from '../../src/controller/keyed-controller.js';
import { sharedCache } from '../../src/controller/shared-cache.js';
import type { Signer } from '../../src/pki/signer.js';
import { withTimeout } from '../../src/runtime/abort.js';
import { freshAnchors, plan } from './bundle.js';

/** The source of a signer's anchors. */
export interface TrustSource {
  readonly signerName: string;
  /** Returns the anchors in PEM; empty while there is nothing to publish. */
  anchors(): Promise<string>;
  /** How long superseded bundles are kept after the new one was published. Default an hour. */
  readonly graceMs?: number;
}

/** Returns the anchors of signers that have `trustAnchors` and serve a single name, under which they are published. */
export const trustSources = (
  signers: readonly Signer[],
  options: Pick<TrustSource, 'graceMs'> = {},
): readonly TrustSource[] =>
  signers.flatMap((signer): readonly TrustSource[] => {
    const anchors = signer.trustAnchors?.bind(signer);
    if (anchors === undefined || isSignerDomain(signer.serves)) return [];
    return [{ signerName: signer.serves, anchors, ...options }];
  });

/** The messages that were logged already, so that each is logged once. */
type ReportedExpiries = Map<string, string>;
/** The bundle of each signer, and the time from which it has been that; undefined if it was so from the start. */
type CurrentBundles = Map<string, { readonly name: string; readonly since: number | undefined }>;

/** The sources of the published anchors. */
export interface TrustBundlePublisherOptions {
  /** Several sources for one signer are merged. */
  readonly sources: readonly TrustSource[];
  /** The interval at which the sources are read. Default a minute. */
  readonly refreshMs?: number;
}

const hour = 3_600_000;
/** The interval for a source that has no anchors yet: it may just have started. */
const nothingYetMs = 2_000;
/** The timeout of a source, the same as that of a signer. */
const patienceMs = 30_000;

const name = 'trust-bundle-publisher';

/**
 * Publishes the trust anchors of signers as ClusterTrustBundles: one bundle for each signer. Repairs modified bundles,
 * and removes old ones.
 */
export function trustBundlePublisher({ sources, refreshMs = 60_000 }: TrustBundlePublisherOptions): Runnable {
  const signerNames = new Set(sources.map(({ signerName }) => signerName));
  return defineKeyedController<string>(name, (context) => {
    const told: ReportedExpiries = new Map();
    const current: CurrentBundles = new Map();
    return {
      identity: (signerName) => signerName,
      // A slow source does not block others.
      concurrency: Math.max(1, signerNames.size),
      backoff: { baseMs: 200, capMs: refreshMs },
      start(wake) {
        sharedCache(context, ClusterTrustBundles).changes.subscribe(({ object, type }) => {
          const signerName = object.spec.signerName ?? '';
          if (signerNames.has(signerName)) wake(signerName, type);
        });
        for (const signerName of signerNames) wake(signerName, 'start');
      },
      async reconcile(signerName) {
        const ownSources = sources.filter((source) => source.signerName === signerName);
        const waitMs = await publish(signerName, ownSources, { ...context, told, current });
        return { requeueAfterMs: Math.min(refreshMs, waitMs ?? refreshMs) };
      },
    };
  });
}

async function publish(
  signerName: string,
  sources: readonly TrustSource[],
  {
    client,
    clock,
    log,
    signal,
    told,
    current,
  }: ReconcileContext & { readonly told: ReportedExpiries; readonly current: CurrentBundles },
): Promise<number | undefined> {
  const limits = { clock, milliseconds: patienceMs, signals: [signal] };
  const texts = await Promise.all(sources.map((source) => withTimeout(limits, async () => source.anchors())));
  const { bundle, expired } = freshAnchors(texts, clock.now());
  const subjects = expired.map(({ subject, serial }) => subject.commonName || serial);
  if (subjects.length > 0 && subjects.join() !== told.get(signerName))
    log.warn({ signerName, subjects }, 'expired anchors are not published');
  told.set(signerName, subjects.join());
  if (bundle === '' && expired.length === 0 && texts.some((text) => text !== '')) {
    throw new Error('the trust anchors of the signer contain no certificate');
  }
  if (bundle === '') return nothingYetMs;
  const resource = client.resource(ClusterTrustBundles);
  const { items } = await resource.list({ fieldSelector: `spec.signerName=${signerName}` });
  const named = bundleName(signerName, bundle);
  const known = current.get(signerName);
  if (known?.name !== named) current.set(signerName, { name: named, since: known && clock.now() });
  const graceMs = Math.max(...sources.map((source) => source.graceMs ?? hour));
  const {
    name: desiredName,
    create,
    repair,
    remove,
    waitMs,
  } = plan({
    signerName,
    bundle,
    published: items,
    now: clock.now(),
    graceMs,
    since: current.get(signerName)?.since,
  });
  const spec = { signerName, trustBundle: bundle };
  const options = { fieldManager: fieldManagers.controllers };
  if (create) {
    await resource.create(
      {
        apiVersion: groupVersion(ClusterTrustBundles),
        kind: ClusterTrustBundles.kind,
        metadata: { name: desiredName },
        spec,
      },
      options,
    );
  }
  if (repair !== undefined) await resource.update({ ...repair, spec }, options);
  for (const old of remove) await deleteIfPresent(client, ClusterTrustBundles, old);
  return waitMs;
}
