import type {
  MutatingWebhook,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '../../api/kinds/webhook-configuration.js';
import { type LabelSelector, labelSelectorFrom } from '../../api/label-selectors.js';

/** One webhook of a configuration, with compiled selectors. */
export interface WebhookAccessor {
  /** The ID of the webhook, unique among webhooks of the same type. */
  readonly id: string;
  readonly configuration: string;
  readonly webhook: MutatingWebhook;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
}

type Configuration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration;

const accessors = new WeakMap<Configuration, readonly WebhookAccessor[]>();
const none: readonly WebhookAccessor[] = [];

/**
 * Returns the webhooks of configurations in the order in which they are called. The configurations must be sorted by
 * name.
 */
export const webhookAccessors = (configurations: readonly Configuration[]): readonly WebhookAccessor[] =>
  configurations.length === 0 ? none : configurations.flatMap(hooksIn);

function hooksIn(configuration: Configuration): readonly WebhookAccessor[] {
  const known = accessors.get(configuration);
  if (known !== undefined) return known;
  const name = configuration.metadata.name ?? '';
  const counts = new Map<string, number>();
  const hooks = (configuration.webhooks ?? []).map((webhook): WebhookAccessor => {
    const count = counts.get(webhook.name) ?? 0;
    counts.set(webhook.name, count + 1);
    return {
      id: `${name}/${webhook.name}/${count}`,
      configuration: name,
      webhook,
      namespaceSelector: labelSelectorFrom(webhook.namespaceSelector),
      objectSelector: labelSelectorFrom(webhook.objectSelector),
    };
  });
  accessors.set(configuration, hooks);
  return hooks;
}
