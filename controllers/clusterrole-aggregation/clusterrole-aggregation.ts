import { type ClusterRole, ClusterRoles } from '../../src/api/kinds/role.js';
import { groupVersion } from '../../src/api/object.js';
import type { Runnable } from '../../src/controller/controller.js';
import { fieldManagers } from '../../src/controller/field-manager.js';
import { defineKeyedController } from '../../src/controller/keyed-controller.js';
import { sharedCache } from '../../src/controller/shared-cache.js';
import { runInTurns } from '../../src/runtime/turn-taking.js';
import { aggregatedRules, sameRules } from './aggregate.js';

const name = 'clusterrole-aggregation';

/**
 * Keeps the rules of aggregated ClusterRoles equal to those of the roles they select; edits are overwritten, unless no
 * role is selected.
 */
export const clusterRoleAggregation = (): Runnable =>
  defineKeyedController<string>(name, (context) => {
    const { client } = context;
    const cache = sharedCache(context, ClusterRoles);
    const resource = client.resource(ClusterRoles);
    return {
      identity: (role) => role,
      start(wake) {
        cache.changes.subscribe(({ object }) => {
          for (const role of cache.list()) {
            if (isAggregated(role)) wake(role.metadata.name ?? '', `ClusterRole ${object.metadata.name}`);
          }
        });
      },
      async reconcile(key) {
        const role = await resource.get({ name: key });
        if (role === undefined || !isAggregated(role)) return;
        const rules = await runInTurns(aggregatedRules(role, cache.list()));
        if (sameRules(rules, role.rules ?? [])) return;
        const body = {
          apiVersion: groupVersion(ClusterRoles),
          kind: ClusterRoles.kind,
          metadata: { name: key },
          // If no role is selected, the controller gives up the ownership of the rules, and those that others wrote
          // stay.
          ...(rules.length === 0 ? {} : { rules }),
        };
        await resource.patch(
          { name: key },
          { type: 'apply', body, fieldManager: fieldManagers.aggregation, force: true },
        );
      },
    };
  });

const isAggregated = ({ aggregationRule }: ClusterRole): boolean => aggregationRule !== undefined;
