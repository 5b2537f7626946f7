import { isReason } from '../../src/api/errors.js';
import { kedgeNames } from '../../src/api/kedge-names.js';
import { ClusterTrustBundles } from '../../src/api/kinds/cluster-trust-bundle.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { Secrets } from '../../src/api/kinds/secret.js';
import { type ApiObject, keyOf, keyText, type ResourceType } from '../../src/api/object.js';
import type { ReconcileContext } from '../../src/controller/controller.js';
import { deleteIfPresent } from '../../src/controller/delete-if-present.js';
import { fieldManagers } from '../../src/controller/field-manager.js';
import { isNamespaceTerminating } from '../../src/controller/namespace-terminating.js';
import { hasLabels, leftovers, type Target, trustLabels } from './targets.js';

const options = { fieldManager: fieldManagers.controllers };

/** Returns the kinds of objects that bundles are written to. */
export const kindsOfTargets = (secretTargets: boolean): readonly ResourceType<ApiObject>[] => [
  ClusterTrustBundles,
  ConfigMaps,
  ...(secretTargets ? [Secrets] : []),
];

interface BundleOrigin {
  readonly owner: string;
  readonly bundle: string;
}

/** Writes all targets. Returns those that failed: a failure in one namespace must not keep the bundle from others. */
export async function keepAll(targets: readonly Target[], origin: BundleOrigin, context: ReconcileContext) {
  const failures: { readonly at: string; readonly error: unknown }[] = [];
  for (const target of targets) {
    context.signal.throwIfAborted();
    try {
      await keepTarget(target, origin, context);
    } catch (error) {
      failures.push({ at: `${target.type.kind} ${keyText(target.key)}`, error });
    }
  }
  return failures;
}

async function keepTarget(
  target: Target,
  { owner, bundle }: BundleOrigin,
  { client, log }: ReconcileContext,
): Promise<void> {
  const resource = client.resource(target.type);
  const found = await resource.get(target.key);
  if (found === undefined) {
    try {
      await resource.create(target.write(undefined), options);
    } catch (error) {
      // The namespace was deleted meanwhile.
      if (!isReason(error, 'NotFound') && !isNamespaceTerminating(error)) throw error;
      log.debug({ object: keyText(target.key), kind: target.type.kind, err: error }, 'could not distribute a bundle');
    }
    return;
  }
  if (!hasLabels(found, trustLabels(owner, bundle))) {
    log.warn(
      { object: keyText(target.key), kind: target.type.kind, bundle },
      'not overwritten: an object with the bundle’s name belongs to someone else',
    );
    return;
  }
  if (target.isRight(found)) return;
  if (target.isFixed(found)) {
    // The object is replaced, because its creator must not decide which anchors it contains.
    const { finalizers = [], deletionTimestamp } = found.metadata;
    if (deletionTimestamp === undefined) await deleteIfPresent(client, target.type, found);
    if (finalizers.length === 0) await resource.create(target.write(undefined), options);
    else
      log.warn(
        { object: keyText(target.key), kind: target.type.kind, bundle, finalizers },
        'an immutable bundle is replaced once its finalizers are removed',
      );
  } else await resource.update(target.write(found), options);
}

interface RemovalOptions {
  readonly owner: string;
  readonly secretTargets: boolean;
}

/** Removes the distributed objects of a bundle that are no longer among its targets. */
export async function removeLeftovers(
  context: ReconcileContext,
  {
    bundle,
    targets,
    owner,
    secretTargets,
  }: RemovalOptions & { readonly bundle: string; readonly targets: readonly Target[] },
): Promise<void> {
  const labelSelector = Object.entries(trustLabels(owner, bundle))
    .map(([label, value]) => `${label}=${value}`)
    .join(',');
  await removeAll(context, { labelSelector, secretTargets }, (items, type) => leftovers(items, targets, type));
}

/** Removes what was distributed for bundles that are no longer configured. */
export async function removeUnknown(
  context: ReconcileContext,
  { known, owner, secretTargets }: RemovalOptions & { readonly known: ReadonlySet<string> },
): Promise<void> {
  const labelSelector = `${kedgeNames.trustOwnerLabel}=${owner}`;
  await removeAll(context, { labelSelector, secretTargets }, (items) =>
    items.filter(({ metadata }) => !known.has(metadata.labels?.[kedgeNames.trustBundleLabel] ?? '')),
  );
}

async function removeAll(
  { client, log }: ReconcileContext,
  { labelSelector, secretTargets }: { readonly labelSelector: string; readonly secretTargets: boolean },
  superfluous: (items: readonly ApiObject[], type: ResourceType<ApiObject>) => readonly ApiObject[],
): Promise<void> {
  for (const type of kindsOfTargets(secretTargets)) {
    const { items } = await client.resource(type).list({ labelSelector });
    for (const object of superfluous(items, type)) {
      if (await deleteIfPresent(client, type, object))
        log.info({ object: keyText(keyOf(object)), kind: type.kind }, 'removed a distributed bundle');
    }
  }
}
