import { isDeepStrictEqual } from 'node:util';
import { type ClusterTrustBundle, ClusterTrustBundles } from '../../src/api/kinds/cluster-trust-bundle.js';
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
} from '../../src/api/kinds/custom-resource-definition.js';
import {
  type MutatingWebhookConfiguration,
  MutatingWebhookConfigurations,
  type ValidatingWebhookConfiguration,
  ValidatingWebhookConfigurations,
} from '../../src/api/kinds/webhook-configuration.js';
import type { ApiObject, ResourceType } from '../../src/api/object.js';
import { tokenBucket } from '../../src/controller/backoff.js';
import type { ReconcileContext, Runnable } from '../../src/controller/controller.js';
import { defineKeyedController, type Wake } from '../../src/controller/keyed-controller.js';
import { sharedCache } from '../../src/controller/shared-cache.js';
import { certificateBlocks, encodePem } from '../../src/pki/pem.js';

/** The signer whose anchors are injected, and the configurations that get them. */
export interface CaInjectorOptions {
  /** The signer whose anchors are injected: all certificates in its ClusterTrustBundles. */
  readonly signerName: string;
  /** Names of MutatingWebhookConfigurations. The anchors are injected into the `caBundle` of each webhook. */
  readonly mutating?: readonly string[];
  /** Names of ValidatingWebhookConfigurations, as for `mutating`. */
  readonly validating?: readonly string[];
  /**
   * Names of CustomResourceDefinitions. The anchors are injected into the `caBundle` of the webhook in
   * `spec.conversion`.
   */
  readonly definitions?: readonly string[];
  /** The name of the controller in log lines and metrics; must be unique in a manager. */
  readonly name?: string;
}

const fieldManager = 'ca-injector';

/**
 * The rate at which each object is checked, because another injector with other anchors could overwrite it as often.
 */
const looks = { perSecond: 0.5, burst: 10 };

/** An object with `caBundle`s. */
interface Target {
  /** The object in log lines: `validatingwebhookconfigurations/teams`. */
  readonly text: string;
  follow(context: ReconcileContext, changed: (cause: string) => void): void;
  /**
   * Writes the object unless it is up to date or does not exist. Fails with Conflict if another client wrote it
   * meanwhile.
   */
  inject(context: ReconcileContext, caBundle: string): Promise<void>;
}

/**
 * Puts the trust anchors of a signer into the `caBundle` of webhook configurations and definitions, and keeps them
 * there, so that webhooks can be served with certificates of that signer. While the signer has no ClusterTrustBundle,
 * nothing is changed. The server does not run one by itself.
 */
export function caInjector({
  signerName,
  mutating = [],
  validating = [],
  definitions = [],
  name = 'ca-injector',
}: CaInjectorOptions): Runnable {
  const targets = [
    ...mutating.map((each) => target(MutatingWebhookConfigurations, each, withCaInWebhooks)),
    ...validating.map((each) => target(ValidatingWebhookConfigurations, each, withCaInWebhooks)),
    ...definitions.map((each) => target(CustomResourceDefinitions, each, withCaInConversion)),
  ];
  return defineKeyedController<Target>(name, (context) => {
    const fieldSelector = `spec.signerName=${signerName}`;
    const bundles = sharedCache(context, ClusterTrustBundles, { fieldSelector });
    const buckets = new Map(targets.map((each) => [each, tokenBucket({ ...looks, clock: context.clock })]));
    return {
      identity: ({ text }) => text,
      backoff: { baseMs: 200, capMs: 60_000 },
      async start(wake: Wake<Target>) {
        await bundles.synced;
        for (const each of targets) each.follow(context, (cause) => wake(each, cause));
        bundles.changes.subscribe(({ type }) => {
          for (const each of targets) wake(each, `bundle ${type}`);
        });
      },
      async reconcile(each) {
        const anchors = anchorsIn(bundles.list());
        if (anchors === '') return;
        if (!buckets.get(each)?.tryTake()) return { requeueAfterMs: 1_000 / looks.perSecond };
        await each.inject(context, Buffer.from(anchors).toString('base64'));
        return;
      },
    };
  });
}

/** Returns every certificate in the bundles once, in PEM, in an order that does not depend on that of the bundles. */
export const anchorsIn = (bundles: readonly ClusterTrustBundle[]): string =>
  [...new Set(bundles.flatMap(({ spec }) => certificatesIn(spec.trustBundle ?? '')))].sort().join('');

const certificatesIn = (pem: string): readonly string[] =>
  certificateBlocks(pem).map((der) => encodePem('CERTIFICATE', der));

const target = <T extends ApiObject>(
  type: ResourceType<T>,
  named: string,
  withCa: (object: T, caBundle: string) => T,
): Target => ({
  text: `${type.plural}/${named}`,
  follow(context, changed) {
    const watch = { fieldSelector: `metadata.name=${named}`, metadataOnly: true } as const;
    sharedCache(context, type, watch).changes.subscribe(({ type: change }) => changed(change));
  },
  async inject({ client }, caBundle) {
    const object = await client.resource(type).get({ name: named });
    if (object === undefined) return;
    const injected = withCa(object, caBundle);
    if (!isDeepStrictEqual(injected, object)) await client.resource(type).update(injected, { fieldManager });
  },
});

const withCaInWebhooks = <T extends MutatingWebhookConfiguration | ValidatingWebhookConfiguration>(
  configuration: T,
  caBundle: string,
): T => ({
  ...configuration,
  ...(configuration.webhooks && {
    webhooks: configuration.webhooks.map((webhook) => ({
      ...webhook,
      clientConfig: { ...webhook.clientConfig, caBundle },
    })),
  }),
});

function withCaInConversion(definition: CustomResourceDefinition, caBundle: string): CustomResourceDefinition {
  const { conversion } = definition.spec;
  if (conversion?.webhook?.clientConfig === undefined) return definition;
  const webhook = { ...conversion.webhook, clientConfig: { ...conversion.webhook.clientConfig, caBundle } };
  return { ...definition, spec: { ...definition.spec, conversion: { ...conversion, webhook } } };
}
