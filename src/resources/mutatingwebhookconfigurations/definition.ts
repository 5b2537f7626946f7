import {
  type MutatingWebhook,
  type MutatingWebhookConfiguration,
  MutatingWebhookConfigurations,
} from '../../api/kinds/webhook-configuration.js';
import { field, listMap, optional, string } from '../../schema/builder.js';
import { objectMembers } from '../../schema/meta.js';
import { withMutatingWebhookDefaults } from '../webhookconfigurations/defaults.js';
import { webhookConfigurations } from '../webhookconfigurations/definition.js';
import { requiredOfWebhook, struct, webhookFields } from '../webhookconfigurations/schema.js';

const mutatingWebhookConfigurationSchema = struct(
  'MutatingWebhookConfiguration',
  {
    ...objectMembers,
    webhooks: field(
      2,
      listMap(
        struct(
          'MutatingWebhook',
          webhookFields({
            objectSelector: 11,
            matchConditions: 12,
            between: {
              reinvocationPolicy: optional(10, string({ go: 'v1.ReinvocationPolicyType' }), {
                enum: ['IfNeeded', 'Never'],
                description:
                  'Whether to call the webhook again if later plugins changed the object: Never (the default) or IfNeeded.',
              }),
            },
          }),
          {
            required: requiredOfWebhook,
            description: 'Webhook that can change or reject objects on admission.',
          },
        ),
        ['name'],
      ),
      { description: 'Webhooks, in the order in which they are called.' },
    ),
  },
  { description: 'Configuration of webhooks that can change or reject objects on admission.' },
);

export const mutatingWebhookConfigurations = webhookConfigurations<MutatingWebhook, MutatingWebhookConfiguration>(
  MutatingWebhookConfigurations,
  mutatingWebhookConfigurationSchema,
  withMutatingWebhookDefaults,
);
