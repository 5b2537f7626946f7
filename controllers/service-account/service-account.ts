import { isReason } from '../../src/api/errors.js';
import { isTerminating, type Namespace, Namespaces } from '../../src/api/kinds/namespace.js';
import { defaultServiceAccount, ServiceAccounts } from '../../src/api/kinds/service-account.js';
import { groupVersion } from '../../src/api/object.js';
import type { Runnable } from '../../src/controller/controller.js';
import { defineController } from '../../src/controller/define-controller.js';
import { fieldManagers } from '../../src/controller/field-manager.js';
import { isNamespaceTerminating } from '../../src/controller/namespace-terminating.js';

/** Ensures that every namespace has the service account `default`. */
export const serviceAccountController = (): Runnable =>
  defineController<Namespace>({
    name: 'service-account',
    for: Namespaces,
    when: (namespace) => !isTerminating(namespace),
    alsoOn: [
      {
        on: ServiceAccounts,
        fieldSelector: `metadata.name=${defaultServiceAccount}`,
        keys: async ({ metadata }) => [{ name: metadata.namespace ?? '' }],
      },
    ],

    async reconcile({ metadata }, { client }) {
      const key = { namespace: metadata.name ?? '', name: defaultServiceAccount };
      const accounts = client.resource(ServiceAccounts);
      if ((await accounts.get(key)) !== undefined) return;
      try {
        await accounts.create(
          { apiVersion: groupVersion(ServiceAccounts), kind: ServiceAccounts.kind, metadata: key },
          { fieldManager: fieldManagers.controllers },
        );
      } catch (error) {
        if (isReason(error, 'AlreadyExists') || isReason(error, 'NotFound') || isNamespaceTerminating(error)) return;
        throw error;
      }
    },
  });
