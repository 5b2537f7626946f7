import { isReason } from '../../src/api/errors.js';
import { messageOf } from '../../src/api/message-of.js';
import { type ApiObject, groupVersion } from '../../src/api/object.js';
import type { Client, DiscoveredResource, DiscoveryFailure } from '../../src/client/client.js';
import { eachListed } from '../../src/client/each-listed.js';
import { preferredResources } from '../../src/client/preferred-resources.js';
import { deleteIfPresent } from '../../src/controller/delete-if-present.js';
import type { DeletionProgress } from './conditions.js';

/**
 * Requests the deletion of everything in a namespace, and returns what is left. Pods are deleted first, and everything
 * else only when they are gone. Groups whose discovery failed do not prevent the deletion of others.
 */
export async function emptyNamespace(client: Client, namespace: string): Promise<DeletionProgress> {
  const failures: DiscoveryFailure[] = [];
  let resources: readonly DiscoveredResource[];
  try {
    const served = await client.discover({ onFailure: (failure) => failures.push(failure) });
    resources = preferredResources(served, ['list', 'delete']).filter(({ namespaced }) => namespaced);
  } catch (error) {
    return { discoveryFailure: messageOf(error), deletionFailures: [], remaining: [], finalizers: new Map() };
  }
  const pods = resources.filter(isPods);
  const others = resources.filter((resource) => !isPods(resource));
  const first = await emptyTypes(client, namespace, pods);
  const isFirstDone = first.remaining.length === 0 && first.deletionFailures.length === 0;
  const emptying = isFirstDone ? await emptyTypes(client, namespace, others) : first;
  return { ...emptying, discoveryFailure: discoveryFailure(failures) };
}

function discoveryFailure(failures: readonly DiscoveryFailure[]): string | undefined {
  if (failures.length === 0) return undefined;
  const messages = failures.map((failure) => `${groupVersion(failure)}: ${failure.message}`).sort();
  return `Discovery failed for some groups, ${messages.length} failing: unable to retrieve the complete list of server APIs: ${messages.join(', ')}`;
}

const isPods = ({ group, plural }: DiscoveredResource): boolean => group === '' && plural === 'pods';

async function emptyTypes(
  client: Client,
  namespace: string,
  resources: readonly DiscoveredResource[],
): Promise<Omit<DeletionProgress, 'discoveryFailure'>> {
  const deletionFailures: string[] = [];
  const remaining: { readonly plural: string; readonly group: string; readonly count: number }[] = [];
  const finalizers = new Map<string, number>();
  for (const resource of resources) {
    try {
      if (!(await emptyType(client, namespace, resource))) continue;
      let count = 0;
      for await (const { metadata } of contents(client, namespace, resource)) {
        count++;
        for (const finalizer of metadata.finalizers ?? [])
          finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
      }
      if (count > 0) remaining.push({ plural: resource.plural, group: resource.group, count });
    } catch (error) {
      if (!isGoneType(error)) deletionFailures.push(messageOf(error));
    }
  }
  return { deletionFailures, remaining, finalizers };
}

/** Whether the error means that the type is no longer served, or does not support list or delete. */
const isGoneType = (error: unknown): boolean => isReason(error, 'NotFound') || isReason(error, 'MethodNotAllowed');

/** Deletes the objects of a type. Returns whether there were any. */
async function emptyType(client: Client, namespace: string, type: DiscoveredResource): Promise<boolean> {
  let found = false;
  for await (const item of contents(client, namespace, type)) {
    found = true;
    if (type.verbs.includes('deletecollection')) {
      await client.resource(type).deleteCollection({ namespace, propagationPolicy: 'Background' });
      break;
    }
    await deleteIfPresent(client, type, item, { propagationPolicy: 'Background' });
  }
  return found;
}

/**
 * Yields the objects of a type, only their metadata and a page at a time: a namespace may hold more data than fits into
 * memory.
 */
const contents = (client: Client, namespace: string, type: DiscoveredResource): AsyncGenerator<ApiObject> =>
  eachListed(client.resource(type), { namespace, metadataOnly: true });
