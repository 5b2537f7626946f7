import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
} from '../../src/api/kinds/custom-resource-definition.js';
import { keyOf } from '../../src/api/object.js';
import { timestamp } from '../../src/api/time.js';
import { openObjectCache } from '../../src/client/object-cache.js';
import type { ReconcileContext, Runnable } from '../../src/controller/controller.js';
import { defineController } from '../../src/controller/define-controller.js';
import { fieldManagers } from '../../src/controller/field-manager.js';
import { withApiApproval } from './api-approval.js';
import { decideNames } from './names.js';
import { RecentWrites } from './recent-writes.js';

/**
 * Hands out the names of custom resources: within a group each belongs to one definition, whoever asked first. Works
 * on one definition at a time and knows its own latest writes, so that no name is given twice.
 */
export const crdNames = (): Runnable => ({ name: 'crd-names', run: runCrdNames });

async function runCrdNames(context: ReconcileContext): Promise<void> {
  const cache = openObjectCache(context.client, CustomResourceDefinitions, context);
  const known = new RecentWrites(cache);
  const siblings = (crd: CustomResourceDefinition): readonly CustomResourceDefinition[] =>
    known.list().filter(({ spec, metadata }) => spec.group === crd.spec.group && metadata.uid !== crd.metadata.uid);

  await cache.synced;
  await defineController<CustomResourceDefinition>({
    name: 'crd-names',
    for: CustomResourceDefinitions,
    alsoOn: [
      {
        on: CustomResourceDefinitions,
        keys: async (changed) =>
          siblings(changed as CustomResourceDefinition)
            .filter(isWaiting)
            .map(keyOf),
      },
    ],
    async reconcile(crd, { client, clock }) {
      const now = timestamp(clock.now());
      const status = withApiApproval(crd, decideNames(crd, siblings(crd), now), now);
      if (status === crd.status) return;
      const written = await client
        .resource(CustomResourceDefinitions)
        .subresource('status')
        .update({ ...crd, status }, { fieldManager: fieldManagers.customResourceDefinitions });
      known.add(written);
    },
  }).run(context);
}

const isWaiting = ({ status }: CustomResourceDefinition): boolean =>
  !(status?.conditions ?? []).some((condition) => condition.type === 'NamesAccepted' && condition.status === 'True');
