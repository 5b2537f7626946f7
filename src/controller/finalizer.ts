import { isReason } from '../api/errors.js';
import type { ApiObject, ResourceType } from '../api/object.js';
import type { Client, WriteOptions } from '../client/client.js';
import type { Reconcile, ReconcileContext, ReconcileResult } from './controller.js';

/** External work for an object, and its clean-up before the object is deleted. */
export interface FinalizerOptions<T extends ApiObject> {
  readonly type: ResourceType<T>;
  /** A qualified name, such as `example.com/vault-role`. */
  readonly name: string;
  /** The options of the writes that add and remove the finalizer. */
  readonly options?: WriteOptions;
  /** Called while the object is not being deleted, and only after it has the finalizer. */
  apply(object: T, context: ReconcileContext): Promise<ReconcileResult>;
  /** Called when the object is being deleted. The finalizer is removed once this resolves without `requeueAfterMs`. */
  cleanUp(object: T, context: ReconcileContext): Promise<ReconcileResult>;
}

/** Returns a reconcile function that adds a finalizer before `apply`, and removes it after `cleanUp`. */
export const withFinalizer =
  <T extends ApiObject>({ type, name, options, apply, cleanUp }: FinalizerOptions<T>): Reconcile<T> =>
  async (object, context) => {
    const hasFinalizer = (object.metadata.finalizers ?? []).includes(name);
    if (object.metadata.deletionTimestamp === undefined) {
      return apply(hasFinalizer ? object : await addFinalizer(context.client, type, object, name, options), context);
    }
    if (!hasFinalizer) return;
    const result = await cleanUp(object, context);
    if (result) return result;
    await removeFinalizer(context.client, type, object, name, options);
  };

/** Adds a finalizer. Fails with Conflict if the object was written since it was read. */
export const addFinalizer = <T extends ApiObject>(
  client: Client,
  type: ResourceType<T>,
  object: T,
  name: string,
  options?: WriteOptions,
): Promise<T> => writeFinalizers(client, type, object, [...(object.metadata.finalizers ?? []), name], options);

/**
 * Removes a finalizer; succeeds if the object no longer exists. Fails with Conflict if the object was written since it
 * was read.
 */
export async function removeFinalizer<T extends ApiObject>(
  client: Client,
  type: ResourceType<T>,
  object: T,
  name: string,
  options?: WriteOptions,
): Promise<void> {
  const finalizers = object.metadata.finalizers ?? [];
  if (!finalizers.includes(name)) return;
  try {
    await writeFinalizers(
      client,
      type,
      object,
      finalizers.filter((one) => one !== name),
      options,
    );
  } catch (error) {
    if (!isReason(error, 'NotFound')) throw error;
  }
}

const writeFinalizers = <T extends ApiObject>(
  client: Client,
  type: ResourceType<T>,
  { metadata }: T,
  finalizers: readonly string[],
  options: WriteOptions | undefined,
): Promise<T> =>
  client.resource(type).patch(
    { namespace: metadata.namespace, name: metadata.name ?? '' },
    {
      type: 'merge',
      body: {
        metadata: {
          finalizers: finalizers.length > 0 ? finalizers : null,
          ...(metadata.uid === undefined ? {} : { uid: metadata.uid }),
          ...(metadata.resourceVersion === undefined ? {} : { resourceVersion: metadata.resourceVersion }),
        },
      },
    },
    options,
  );
