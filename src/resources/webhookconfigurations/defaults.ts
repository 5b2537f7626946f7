import type { MutatingWebhook, ValidatingWebhook } from '../../api/kinds/webhook-configuration.js';

/** Every default of a webhook; those of the mutating sort besides. */
export function withWebhookDefaults<W extends ValidatingWebhook>(webhook: W): W {
  const { service } = webhook.clientConfig ?? {};
  return {
    ...webhook,
    failurePolicy: webhook.failurePolicy ?? 'Fail',
    matchPolicy: webhook.matchPolicy ?? 'Equivalent',
    namespaceSelector: webhook.namespaceSelector ?? {},
    objectSelector: webhook.objectSelector ?? {},
    timeoutSeconds: webhook.timeoutSeconds ?? 10,
    ...(service === undefined || service === null
      ? {}
      : { clientConfig: { ...webhook.clientConfig, service: { ...service, port: service.port ?? 443 } } }),
    ...(webhook.rules === undefined || webhook.rules === null
      ? {}
      : { rules: webhook.rules.map((rule) => ({ ...rule, scope: rule.scope ?? '*' })) }),
  };
}

export const withMutatingWebhookDefaults = (webhook: MutatingWebhook): MutatingWebhook => ({
  ...withWebhookDefaults(webhook),
  reinvocationPolicy: webhook.reinvocationPolicy ?? 'Never',
});

/** The configuration with every webhook's defaults; no webhooks at all are left out. */
export function withWebhooks<W, T extends { readonly webhooks?: readonly W[] }>(
  configuration: T,
  defaults: (webhook: W) => W,
): T {
  const { webhooks, ...rest } = configuration;
  if (webhooks === undefined || webhooks === null || webhooks.length === 0) return rest as T;
  return { ...configuration, webhooks: webhooks.map(defaults) };
}
