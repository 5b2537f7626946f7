import { findCondition, hasCondition, setCondition } from '../../src/api/conditions.js';
import { isReason } from '../../src/api/errors.js';
import {
  type CustomResourceDefinition,
  type CustomResourceDefinitionCondition,
  CustomResourceDefinitions,
  customResourceCleanupFinalizer,
} from '../../src/api/kinds/custom-resource-definition.js';
import { messageOf } from '../../src/api/message-of.js';
import { timestamp } from '../../src/api/time.js';
import type { ReconcileContext, ReconcileResult, Runnable } from '../../src/controller/controller.js';
import { defineController } from '../../src/controller/define-controller.js';
import { deletionPollMs } from '../../src/controller/deletion-poll.js';
import { fieldManagers } from '../../src/controller/field-manager.js';
import { writeStatus } from '../../src/controller/write-status.js';
import { type CustomResourceInstances, clientInstances } from './instances.js';
import { steps, stuckAfterMs } from './terminating.js';

const options = { fieldManager: fieldManagers.customResourceDefinitions };

/** Deletes the custom resources of a definition that is being deleted, then removes its finalizer. */
export const crdFinalizer = ({ instances }: { readonly instances?: CustomResourceInstances } = {}): Runnable =>
  defineController<CustomResourceDefinition>({
    name: 'crd-finalizer',
    for: CustomResourceDefinitions,
    concurrency: 5,
    when: ({ metadata }) =>
      metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(customResourceCleanupFinalizer),
    reconcile: (crd, context) => finalize(crd, context, instances ?? clientInstances(context.client)),
  });

async function finalize(
  latest: CustomResourceDefinition,
  context: ReconcileContext,
  instances: CustomResourceInstances,
): Promise<ReconcileResult> {
  const reason = findCondition(latest.status?.conditions, 'Terminating')?.reason;
  const isInProgress = reason !== undefined && reason !== 'InstanceDeletionPending';
  const crd = isInProgress ? latest : await writeCondition(latest, steps.inProgress, context);
  // Instances can be created once the names are accepted, slightly before a definition is established.
  const found = await attempt(crd, context, steps.cannotList, () => instances.count(crd));
  if (found > 0) await attempt(crd, context, steps.cannotDelete, () => instances.deleteAll(crd));
  const remaining = found === 0 ? 0 : await attempt(crd, context, steps.cannotList, () => instances.count(crd));
  if (remaining === 0) {
    const isEstablished = hasCondition(crd, 'Established');
    return release(crd, found > 0 || isEstablished ? steps.completed : steps.neverEstablished, context);
  }

  const waitedMs = context.clock.now() - Date.parse(crd.metadata.deletionTimestamp ?? '');
  if (waitedMs > stuckAfterMs) await writeCondition(crd, steps.stillThere('context deadline exceeded'), context);
  return { requeueAfterMs: deletionPollMs(waitedMs) };
}

/** Runs one step; if it fails, the condition reports it and the whole is tried again. */
async function attempt<R>(
  crd: CustomResourceDefinition,
  context: ReconcileContext,
  failure: (message: string) => CustomResourceDefinitionCondition,
  step: () => Promise<R>,
): Promise<R> {
  // Instances may be accessed without the context's client, which would reject the call.
  context.signal.throwIfAborted();
  try {
    return await step();
  } catch (error) {
    await writeCondition(crd, failure(messageOf(error)), context);
    throw error;
  }
}

/**
 * Removes the finalizer and writes the condition, both through the subresource `status`: an update of the object itself
 * would be rejected if the definition names a stored version that it no longer has.
 */
async function release(
  crd: CustomResourceDefinition,
  last: CustomResourceDefinitionCondition,
  context: ReconcileContext,
): Promise<void> {
  const finalizers = (crd.metadata.finalizers ?? []).filter((name) => name !== customResourceCleanupFinalizer);
  const status = { ...crd.status, conditions: conditionsWith(crd, last, context) };
  const definitions = context.client.resource(CustomResourceDefinitions);
  try {
    await definitions
      .subresource('status')
      .update({ ...crd, metadata: { ...crd.metadata, finalizers }, status }, options);
  } catch (error) {
    if (!isReason(error, 'NotFound')) throw error;
  }
}

const writeCondition = (
  crd: CustomResourceDefinition,
  condition: CustomResourceDefinitionCondition,
  context: ReconcileContext,
): Promise<CustomResourceDefinition> => {
  const status = { ...crd.status, conditions: conditionsWith(crd, condition, context) };
  return writeStatus(context.client.resource(CustomResourceDefinitions), crd, status, options);
};

const conditionsWith = (
  { status }: CustomResourceDefinition,
  condition: CustomResourceDefinitionCondition,
  { clock }: ReconcileContext,
): readonly CustomResourceDefinitionCondition[] => setCondition(status?.conditions, condition, timestamp(clock.now()));
