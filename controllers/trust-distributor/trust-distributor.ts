import { readFile } from 'node:fs/promises';
import { isReason } from '../../src/api/errors.js';
import { ClusterTrustBundles } from '../../src/api/kinds/cluster-trust-bundle.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { type Namespace, Namespaces } from '../../src/api/kinds/namespace.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import { type ApiObject, keyOf, keyText, type ResourceType } from '../../src/api/object.js';
import { ownNames } from '../../src/api/own-names.js';
import type { Client } from '../../src/client/client.js';
import { type ObjectCache, openObjectCache } from '../../src/client/object-cache.js';
import type { ReconcileContext, ReconcileResult, Runnable } from '../../src/controller/controller.js';
import { deleteIfPresent } from '../../src/controller/delete-if-present.js';
import { fieldManagers } from '../../src/controller/field-manager.js';
import { defineKeyedController } from '../../src/controller/keyed-controller.js';
import { isNamespaceGoing } from '../../src/controller/namespace-going.js';
import { combineAnchors, type Dropped, type SourceText, UnfitSource } from './combine.js';
import { isMarked, leftovers, marks, type Target, targetsOf } from './targets.js';
import {
  namespacedName,
  type TrustBundle,
  type TrustBundleSource,
  type TrustOptions,
  trustProblems,
} from './trust-bundle.js';

export interface TrustDistributorOptions extends TrustOptions {
  /** How often the sources are read. Default a minute. */
  readonly refreshMs?: number;
}

const name = 'trust-distributor';
const options = { fieldManager: fieldManagers.controllers };

/**
 * Keeps bundles of trust anchors in ClusterTrustBundles, ConfigMaps and Secrets: what drifts is repaired, what is no
 * longer wanted is removed, what somebody else put under a name is left alone. A source that cannot be read leaves the
 * targets as they are, a target that cannot be written holds up no other. Throws an Error if a bundle makes no sense.
 */
export function trustDistributor(given: TrustDistributorOptions): Runnable {
  const { refreshMs = 60_000, ...trust } = given;
  const [problem] = trustProblems(trust);
  if (problem !== undefined) throw new Error(`trust: ${problem}`);
  const { bundles, owner = ownNames.trustOwner, secretTargets = false } = trust;
  return defineKeyedController<TrustBundle | undefined>(name, (context) => {
    const { client, signal, clock, log } = context;
    const dropped = new Map<string, string>();
    let namespaces: ObjectCache<Namespace> | undefined;
    const reconcile = async (bundle: TrustBundle | undefined): Promise<ReconcileResult> => {
      if (bundle === undefined) {
        await removeUnknown(context, { bundles, owner, secretTargets });
        return { requeueAfterMs: refreshMs };
      }
      await namespaces?.synced;
      // Namespaces that are not known are not gone.
      signal.throwIfAborted();
      const texts = await textsOf(client, bundle, bundles);
      const combined = combineAnchors(texts, clock.now());
      tellDropped(bundle, combined.dropped, dropped, context);
      if (combined.bundle === '') throw new UnfitSource(`bundle ${bundle.name}: no anchor is left`);
      const targets = targetsOf(bundle, { text: combined.bundle, owner, namespaces: namespaces?.list() ?? [] });
      const failures = await keepAll(targets, { owner, bundle: bundle.name }, context);
      await removeLeftovers(context, { bundle, targets, owner, secretTargets });
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
        const scope = { signal, clock, log };
        namespaces = openObjectCache(client, Namespaces, scope);
        namespaces.changes.subscribe(({ type }) => all(`namespace ${type}`));
        const labelSelector = `${ownNames.trustOwnerLabel}=${owner}`;
        for (const type of kindsOfTargets(secretTargets)) {
          openObjectCache(client, type, { ...scope, labelSelector }).changes.subscribe(({ object, type: change }) => {
            const marked = object.metadata.labels?.[ownNames.trustBundleLabel];
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

const kindsOfTargets = (secretTargets: boolean): readonly ResourceType<ApiObject>[] => [
  ClusterTrustBundles,
  ConfigMaps,
  ...(secretTargets ? [Secrets] : []),
];

/** The texts a bundle is made of. Throws UnfitSource for a source that is not there. */
async function textsOf(
  client: Client,
  bundle: TrustBundle,
  bundles: readonly TrustBundle[],
): Promise<readonly SourceText[]> {
  const texts = await Promise.all(bundle.sources.map((source) => textOf(client, source, bundles)));
  return texts.flat();
}

async function textOf(
  client: Client,
  source: TrustBundleSource,
  bundles: readonly TrustBundle[],
): Promise<readonly SourceText[]> {
  if ('bundle' in source) {
    const other = bundles.find(({ name: found }) => found === source.bundle);
    return other === undefined ? [] : textsOf(client, other, bundles);
  }
  if ('file' in source) {
    const pem = await readFile(source.file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
      throw new UnfitSource(`file ${source.file}: ${cause.code ?? cause.message}`);
    });
    return [{ from: `file ${source.file}`, pem }];
  }
  if ('signer' in source) {
    const { items } = await client
      .resource(ClusterTrustBundles)
      .list({ fieldSelector: `spec.signerName=${source.signer}` });
    if (items.length === 0) throw new UnfitSource(`signer ${source.signer}: there is no ClusterTrustBundle`);
    return items.map(({ metadata, spec }) => ({
      from: `ClusterTrustBundle ${metadata.name}`,
      pem: spec.trustBundle ?? '',
    }));
  }
  if ('clusterTrustBundle' in source) {
    const from = `ClusterTrustBundle ${source.clusterTrustBundle}`;
    const found = await client.resource(ClusterTrustBundles).get({ name: source.clusterTrustBundle });
    if (found === undefined) throw new UnfitSource(`${from}: it does not exist`);
    return [{ from, pem: found.spec.trustBundle ?? '' }];
  }
  if ('configMap' in source) {
    const from = `ConfigMap ${source.configMap}`;
    const found = await client.resource(ConfigMaps).get(namespacedName(source.configMap) ?? { name: '' });
    return [{ from, pem: membersOf(from, found?.data, source.key) }];
  }
  const from = `Secret ${source.secret}`;
  const found = await client.resource(Secrets).get(namespacedName(source.secret) ?? { name: '' });
  return [{ from, pem: Buffer.from(membersOf(from, found?.data, source.key), 'base64').toString('utf8') }];
}

/** The member of a key, or all of them. */
function membersOf(from: string, data: Readonly<Record<string, string>> | undefined, key: string | undefined): string {
  if (data === undefined) throw new UnfitSource(`${from}: it does not exist, or is empty`);
  if (key === undefined) return Object.values(data).join('\n');
  const value = Object.hasOwn(data, key) ? data[key] : undefined;
  if (value === undefined) throw new UnfitSource(`${from}: there is no key ${JSON.stringify(key)}`);
  return value;
}

/** Says once what is not passed on. */
function tellDropped(
  bundle: TrustBundle,
  dropped: readonly Dropped[],
  told: Map<string, string>,
  { log }: ReconcileContext,
): void {
  const text = JSON.stringify(dropped);
  if (told.get(bundle.name) === text) return;
  told.set(bundle.name, text);
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

interface Kept {
  readonly owner: string;
  readonly bundle: string;
}

/** Answers which failed: one namespace that refuses a bundle must not keep it from the others. */
async function keepAll(targets: readonly Target[], kept: Kept, context: ReconcileContext) {
  const failures: { readonly at: string; readonly error: unknown }[] = [];
  for (const target of targets) {
    context.signal.throwIfAborted();
    try {
      await keep(target, kept, context);
    } catch (error) {
      failures.push({ at: `${target.type.kind} ${keyText(target.key)}`, error });
    }
  }
  return failures;
}

async function keep(target: Target, { owner, bundle }: Kept, { client, log }: ReconcileContext): Promise<void> {
  const resource = client.resource(target.type);
  const found = await resource.get(target.key);
  if (found === undefined) {
    try {
      await resource.create(target.write(undefined), options);
    } catch (error) {
      // The namespace went away meanwhile.
      if (!isReason(error, 'NotFound') && !isNamespaceGoing(error)) throw error;
      log.debug({ object: keyText(target.key), kind: target.type.kind, err: error }, 'could not distribute a bundle');
    }
    return;
  }
  if (!isMarked(found, marks(owner, bundle))) {
    log.warn(
      { object: keyText(target.key), kind: target.type.kind, bundle },
      'left alone: somebody else’s object has the name of a bundle',
    );
    return;
  }
  if (target.isRight(found)) return;
  if (target.isFixed(found)) {
    // Whoever made it so has no say in which anchors it holds.
    const { finalizers = [], deletionTimestamp } = found.metadata;
    if (deletionTimestamp === undefined) await deleteIfPresent(client, target.type, found);
    if (finalizers.length === 0) await resource.create(target.write(undefined), options);
    else
      log.warn(
        { object: keyText(target.key), kind: target.type.kind, bundle, finalizers },
        'a bundle that cannot be changed is replaced when its finalizers are gone',
      );
  } else await resource.update(target.write(found), options);
}

interface Removing {
  readonly owner: string;
  readonly secretTargets: boolean;
}

async function removeLeftovers(
  context: ReconcileContext,
  {
    bundle,
    targets,
    owner,
    secretTargets,
  }: Removing & { readonly bundle: TrustBundle; readonly targets: readonly Target[] },
): Promise<void> {
  const labelSelector = Object.entries(marks(owner, bundle.name))
    .map(([label, value]) => `${label}=${value}`)
    .join(',');
  for (const type of kindsOfTargets(secretTargets)) {
    const { items } = await context.client.resource(type).list({ labelSelector });
    for (const object of leftovers(items, targets, type)) await remove(type, object, context);
  }
}

/** Removes what was distributed for bundles that are no longer configured. */
async function removeUnknown(
  context: ReconcileContext,
  { bundles, owner, secretTargets }: Removing & { readonly bundles: readonly TrustBundle[] },
): Promise<void> {
  const known = new Set(bundles.map((bundle) => bundle.name));
  for (const type of kindsOfTargets(secretTargets)) {
    const { items } = await context.client
      .resource(type)
      .list({ labelSelector: `${ownNames.trustOwnerLabel}=${owner}` });
    for (const object of items) {
      if (!known.has(object.metadata.labels?.[ownNames.trustBundleLabel] ?? '')) await remove(type, object, context);
    }
  }
}

async function remove(
  type: ResourceType<ApiObject>,
  object: ApiObject,
  { client, log }: ReconcileContext,
): Promise<void> {
  if (await deleteIfPresent(client, type, object))
    log.info({ object: keyText(keyOf(object)), kind: type.kind }, 'removed a distributed bundle');
}
