import { findCondition, hasCondition, setCondition } from '../../src/api/conditions.js';
import {
  type CustomResourceDefinition,
  type CustomResourceDefinitionCondition,
  CustomResourceDefinitions,
  customResourceCleanupFinalizer,
} from '../../src/api/kinds/custom-resource-definition.js';
import { timestamp } from '../../src/api/time.js';
import type { ReconcileContext, ReconcileResult, Runnable } from '../../src/controller/controller.js';
import { defineController } from '../../src/controller/define-controller.js';
import { fieldManagers } from '../../src/controller/field-manager.js';
import { removeFinalizer } from '../../src/controller/finalizer.js';
import { type Instances, instancesThrough } from './instances.js';
import { nextLookMs, patienceMs, steps } from './terminating.js';

/** Deletes the custom resources of a definition that is to go, then lets go of the definition. */
export const crdFinalizer = ({ instances }: { readonly instances?: Instances } = {}): Runnable =>
  defineController<CustomResourceDefinition>({
    name: 'crd-finalizer',
    for: CustomResourceDefinitions,
    concurrency: 5,
    when: ({ metadata }) =>
      metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(customResourceCleanupFinalizer),
    reconcile: (crd, context) => finalize(crd, context, instances ?? instancesThrough(context.client)),
  });

async function finalize(
  given: CustomResourceDefinition,
  context: ReconcileContext,
  instances: Instances,
): Promise<ReconcileResult> {
  const reason = findCondition(given.status?.conditions, 'Terminating')?.reason;
  const begun = reason !== undefined && reason !== 'InstanceDeletionPending';
  const crd = begun ? given : await say(given, steps.inProgress, context);
  if (!hasCondition(crd, 'Established')) return release(crd, steps.neverEstablished, context);

  const found = await attempt(crd, context, steps.cannotList, () => instances.count(crd));
  if (found > 0) await attempt(crd, context, steps.cannotDelete, () => instances.deleteAll(crd));
  const left = found === 0 ? 0 : await attempt(crd, context, steps.cannotList, () => instances.count(crd));
  if (left === 0) return release(crd, steps.completed, context);

  const waitedMs = context.clock.now() - Date.parse(crd.metadata.deletionTimestamp ?? '');
  if (waitedMs > patienceMs) await say(crd, steps.stillThere('context deadline exceeded'), context);
  return { requeueAfterMs: nextLookMs(waitedMs) };
}

/** Runs one step; if it fails, the condition says so and the whole is tried again. */
async function attempt<R>(
  crd: CustomResourceDefinition,
  context: ReconcileContext,
  failure: (why: string) => CustomResourceDefinitionCondition,
  step: () => Promise<R>,
): Promise<R> {
  // Instances may be reached without the context's client, which would refuse.
  context.signal.throwIfAborted();
  try {
    return await step();
  } catch (error) {
    await say(crd, failure(error instanceof Error ? error.message : String(error)), context);
    throw error;
  }
}

/** The last condition is written only for somebody to see: when another finalizer keeps the definition. */
async function release(
  crd: CustomResourceDefinition,
  last: CustomResourceDefinitionCondition,
  context: ReconcileContext,
): Promise<void> {
  const held = (crd.metadata.finalizers ?? []).length > 1;
  const final = held ? await say(crd, last, context) : crd;
  await removeFinalizer(context.client, CustomResourceDefinitions, final, customResourceCleanupFinalizer);
}

async function say(
  crd: CustomResourceDefinition,
  condition: CustomResourceDefinitionCondition,
  { client, clock }: ReconcileContext,
): Promise<CustomResourceDefinition> {
  const conditions = setCondition(crd.status?.conditions, condition, timestamp(clock.now()));
  if (conditions === crd.status?.conditions) return crd;
  return client
    .resource(CustomResourceDefinitions)
    .subresource('status')
    .update(
      { ...crd, status: { ...crd.status, conditions } },
      { fieldManager: fieldManagers.customResourceDefinitions },
    );
}
