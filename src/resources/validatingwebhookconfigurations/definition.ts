import { isDeepStrictEqual } from 'node:util';
import {
  type ValidatingWebhook,
  type ValidatingWebhookConfiguration,
  ValidatingWebhookConfigurations,
} from '../../api/kinds/webhook-configuration.js';
import { nameRules } from '../../api/names.js';
import { defineResource, type ResourceDefinition } from '../../registry/resource-definition.js';
import { field, listMap, struct } from '../../schema/builder.js';
import { objectMeta, typeMeta } from '../../schema/meta.js';
import { age, column } from '../columns.js';
import { withWebhookDefaults, withWebhooks } from '../webhookconfigurations/defaults.js';
import { component, requiredOfWebhook, webhookFields } from '../webhookconfigurations/schema.js';
import { reservedNameWarnings, validateWebhooks } from '../webhookconfigurations/validate.js';

export const validatingWebhookConfigurationSchema = struct(
  'v1.ValidatingWebhookConfiguration',
  {
    ...typeMeta,
    metadata: field(1, objectMeta, { description: 'Names, labels, versions and times.' }),
    webhooks: field(
      2,
      listMap(
        struct('v1.ValidatingWebhook', webhookFields({ objectSelector: 10, matchConditions: 11 }), {
          required: requiredOfWebhook,
          description: 'A webhook that may refuse what is written.',
          ...component('ValidatingWebhook'),
        }),
        ['name'],
      ),
      { description: 'The webhooks.' },
    ),
  },
  { description: 'Webhooks that may refuse what is written.', ...component('ValidatingWebhookConfiguration') },
);

export const validatingWebhookConfigurations: ResourceDefinition<ValidatingWebhookConfiguration> =
  defineResource<ValidatingWebhookConfiguration>({
    ...ValidatingWebhookConfigurations,
    origin: 'built-in',
    anyFinalizer: true,
    schema: validatingWebhookConfigurationSchema,
    nameRule: nameRules.dnsSubdomain,
    checksMetadata: 'as if new',
    newGeneration: (next, previous) => !isDeepStrictEqual(next.webhooks ?? [], previous.webhooks ?? []),
    generationOfEmpty: 'webhooks',
    columns: [
      column(
        'Webhooks',
        'Webhooks indicates the number of webhooks registered in this configuration',
        ({ webhooks }: ValidatingWebhookConfiguration) => webhooks?.length ?? 0,
        { type: 'integer' },
      ),
      age,
    ],
    defaults: (configuration) =>
      withWebhooks<ValidatingWebhook, typeof configuration>(configuration, withWebhookDefaults),
    validate: (next, previous) => validateWebhooks(next.webhooks, previous === undefined ? 'new' : previous.webhooks),
    warnings: reservedNameWarnings,
  });
