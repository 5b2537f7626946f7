import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
} from '../../src/api/kinds/custom-resource-definition.js';
import { timestamp } from '../../src/api/time.js';
import type { Runnable } from '../../src/controller/controller.js';
import { fieldManagers } from '../../src/controller/field-manager.js';
import { defineKeyedController } from '../../src/controller/keyed-controller.js';
import { sharedCache } from '../../src/controller/shared-cache.js';
import { writeStatus } from '../../src/controller/write-status.js';
import { withApiApproval } from './api-approval.js';
import { decideNames } from './names.js';
import { RecentWrites } from './recent-writes.js';
import { withoutNonStructural } from './structural.js';

const name = 'crd-names';
const options = { fieldManager: fieldManagers.customResourceDefinitions };

/**
 * Accepts the names of custom resources: within a group each name belongs to the definition that requested it first.
 * Works on one definition at a time and remembers its own latest writes, so that no name is accepted twice. The same
 * cache wakes the controller and provides the names in use, so that a definition woken by a freed name also sees it as
 * free.
 */
export const crdNames = (): Runnable =>
  defineKeyedController<string>(name, (context) => {
    const { client } = context;
    const cache = sharedCache(context, CustomResourceDefinitions);
    const known = new RecentWrites(cache);
    const resource = client.resource(CustomResourceDefinitions);
    const siblings = (crd: CustomResourceDefinition): readonly CustomResourceDefinition[] =>
      known.list().filter(({ spec, metadata }) => spec.group === crd.spec.group && metadata.uid !== crd.metadata.uid);

    return {
      identity: (crd) => crd,
      async start(wake) {
        await cache.synced;
        cache.changes.subscribe(({ type, object }) => {
          if (type !== 'deleted') wake(object.metadata.name ?? '', type);
          // A new definition frees no names.
          if (type === 'added') return;
          for (const { metadata } of siblings(object).filter(isWaiting)) {
            wake(metadata.name ?? '', `CustomResourceDefinition ${object.metadata.name}`);
          }
        });
      },
      async reconcile(key) {
        const crd = await resource.get({ name: key });
        // A definition that is not in the cache yet will be reported by it. Until then, names that it holds would seem
        // free.
        if (crd === undefined || cache.get({ name: key })?.metadata.uid !== crd.metadata.uid) return;
        const now = timestamp(context.clock.now());
        const named = decideNames(crd, siblings(crd), now);
        const status = withoutNonStructural(crd, withApiApproval(crd, named, now));
        if (status === crd.status) return;
        known.add(await writeStatus(resource, crd, status, options));
      },
    };
  });

const isWaiting = ({ status }: CustomResourceDefinition): boolean =>
  !(status?.conditions ?? []).some((condition) => condition.type === 'NamesAccepted' && condition.status === 'True');
