import { isReason } from '../api/errors.js';
import type { ApiObject, ResourceType } from '../api/object.js';
import type { Client, WriteOptions } from '../client/client.js';
import type { Reconcile, ReconcileContext, ReconcileResult } from './controller.js';

/** What is done outside for an object, and undone before it goes. */
export interface FinalizerOptions<T extends ApiObject> {
  readonly type: ResourceType<T>;
  /** Qualified name, such as `example.com/vault-role`. */
  readonly name: string;
  /** How the finalizer is put on and taken off. */
  readonly options?: WriteOptions;
  /** The object is wanted. Runs only once the finalizer is on it. */
  apply(object: T, context: ReconcileContext): Promise<ReconcileResult>;
  /** The object is to go. The finalizer is taken off once this resolves without a wish to look again. */
  cleanUp(object: T, context: ReconcileContext): Promise<ReconcileResult>;
}

/** A reconcile that puts a finalizer on before it does anything and takes it off after it cleaned up. */
export const withFinalizer =
  <T extends ApiObject>({ type, name, options, apply, cleanUp }: FinalizerOptions<T>): Reconcile<T> =>
  async (object, context) => {
    const held = (object.metadata.finalizers ?? []).includes(name);
    if (object.metadata.deletionTimestamp === undefined) {
      return apply(held ? object : await addFinalizer(context.client, type, object, name, options), context);
    }
    if (!held) return;
    const result = await cleanUp(object, context);
    if (result) return result;
    await removeFinalizer(context.client, type, object, name, options);
  };

/** Fails with Conflict if somebody else wrote the object since it was read. */
export const addFinalizer = <T extends ApiObject>(
  client: Client,
  type: ResourceType<T>,
  object: T,
  name: string,
  options?: WriteOptions,
): Promise<T> => writeFinalizers(client, type, object, [...(object.metadata.finalizers ?? []), name], options);

/** Takes a finalizer off; an object that is gone meanwhile is fine. Fails with Conflict as above. */
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
