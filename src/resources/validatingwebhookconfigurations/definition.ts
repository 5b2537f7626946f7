import {
  type ValidatingWebhook,
  type ValidatingWebhookConfiguration,
  ValidatingWebhookConfigurations,
} from '../../api/kinds/webhook-configuration.js';
import { field, listMap } from '../../schema/builder.js';
import { objectMembers } from '../../schema/meta.js';
import { withWebhookDefaults } from '../webhookconfigurations/defaults.js';
import { webhookConfigurations } from '../webhookconfigurations/definition.js';
import { requiredOfWebhook, struct, webhookFields } from '../webhookconfigurations/schema.js';

const validatingWebhookConfigurationSchema = struct(
  'ValidatingWebhookConfiguration',
  {
    ...objectMembers,
    webhooks: field(
      2,
      listMap(
        struct('ValidatingWebhook', webhookFields({ objectSelector: 10, matchConditions: 11 }), {
          required: requiredOfWebhook,
          description: 'Webhook that can reject requests on admission.',
        }),
        ['name'],
      ),
      { description: 'Webhooks that are called.' },
    ),
  },
  { description: 'Configuration of webhooks that can reject requests on admission.' },
);

export const validatingWebhookConfigurations = webhookConfigurations<ValidatingWebhook, ValidatingWebhookConfiguration>(
  ValidatingWebhookConfigurations,
  validatingWebhookConfigurationSchema,
  withWebhookDefaults,
);
