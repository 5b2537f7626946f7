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
                description: 'Call again if others changed the object since? Never (the default) or IfNeeded.',
              }),
            },
          }),
          {
            required: requiredOfWebhook,
            description: 'A webhook that may change what is written.',
          },
        ),
        ['name'],
      ),
      { description: 'The webhooks, in the order they are called.' },
    ),
  },
  { description: 'Webhooks that may change what is written.' },
);

export const mutatingWebhookConfigurations = webhookConfigurations<MutatingWebhook, MutatingWebhookConfiguration>(
  MutatingWebhookConfigurations,
  mutatingWebhookConfigurationSchema,
  withMutatingWebhookDefaults,
);
