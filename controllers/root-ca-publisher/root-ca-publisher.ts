import { type Domains, defaultDomains } from '../../src/api/domains.js';
import { isReason } from '../../src/api/errors.js';
import { ConfigMaps } from '../../src/api/kinds/config-map.js';
import { isTerminating, type Namespace, Namespaces } from '../../src/api/kinds/namespace.js';
import type { Runnable } from '../../src/controller/controller.js';
import { defineController } from '../../src/controller/define-controller.js';
import { fieldManagers } from '../../src/controller/field-manager.js';
import { isNamespaceTerminating } from '../../src/controller/namespace-terminating.js';
import { configMapName, repaired, wantedConfigMap } from './root-ca.js';

/** The CA that verifies the API server, and how often it is published again. */
export interface RootCaPublisherOptions {
  /** Returns the CA that verifies the API server, in PEM; called every time. */
  readonly rootCa: () => string | Promise<string>;
  /** The interval at which every namespace is checked for a new CA. Default ten minutes. */
  readonly refreshMs?: number;
  readonly domains?: Domains;
}

/** Maintains a ConfigMap in every namespace with the CA that verifies the API server. */
export const rootCaPublisher = ({
  rootCa,
  refreshMs = 600_000,
  domains = defaultDomains,
}: RootCaPublisherOptions): Runnable =>
  defineController<Namespace>({
    name: 'root-ca-publisher',
    for: Namespaces,
    when: (namespace) => !isTerminating(namespace),
    alsoOn: [
      {
        on: ConfigMaps,
        fieldSelector: `metadata.name=${configMapName}`,
        keys: async ({ metadata }) => [{ name: metadata.namespace ?? '' }],
      },
    ],

    async reconcile({ metadata }, { client }) {
      const namespace = metadata.name ?? '';
      const bundle = await rootCa();
      if (bundle === '') return;
      const configMaps = client.resource(ConfigMaps);
      const options = { fieldManager: fieldManagers.controllers };
      const found = await configMaps.get({ namespace, name: configMapName });
      if (found === undefined) {
        try {
          await configMaps.create(wantedConfigMap(namespace, bundle, domains), options);
        } catch (error) {
          if (isReason(error, 'NotFound') || isNamespaceTerminating(error)) return;
          throw error;
        }
      } else {
        const right = repaired(found, bundle, domains);
        if (right !== undefined) await configMaps.update(right, options);
      }
      return { requeueAfterMs: refreshMs };
    },
  });
