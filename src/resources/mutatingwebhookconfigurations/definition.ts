import { isDeepStrictEqual } from 'node:util';
import {
  type MutatingWebhookConfiguration,
  MutatingWebhookConfigurations,
} from '../../api/kinds/webhook-configuration.js';
import { nameRules } from '../../api/names.js';
import { defineResource, type ResourceDefinition } from '../../registry/resource-definition.js';
import { field, listMap, optional, string, struct } from '../../schema/builder.js';
import { objectMeta, typeMeta } from '../../schema/meta.js';
import { age, column } from '../columns.js';
import { withMutatingWebhookDefaults, withWebhooks } from '../webhookconfigurations/defaults.js';
import { component, requiredOfWebhook, webhookFields } from '../webhookconfigurations/schema.js';
import { reservedNameWarnings, validateWebhooks } from '../webhookconfigurations/validate.js';

export const mutatingWebhookConfigurationSchema = struct(
  'v1.MutatingWebhookConfiguration',
  {
    ...typeMeta,
    metadata: field(1, objectMeta, { description: 'Names, labels, versions and times.' }),
    webhooks: field(
      2,
      listMap(
        struct(
          'v1.MutatingWebhook',
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
            ...component('MutatingWebhook'),
          },
        ),
        ['name'],
      ),
      { description: 'The webhooks, in the order they are called.' },
    ),
  },
  { description: 'Webhooks that may change what is written.', ...component('MutatingWebhookConfiguration') },
);

export const mutatingWebhookConfigurations: ResourceDefinition<MutatingWebhookConfiguration> =
  defineResource<MutatingWebhookConfiguration>({
    ...MutatingWebhookConfigurations,
    origin: 'built-in',
    anyFinalizer: true,
    schema: mutatingWebhookConfigurationSchema,
    nameRule: nameRules.dnsSubdomain,
    checksMetadata: 'as if new',
    newGeneration: (next, previous) => !isDeepStrictEqual(next.webhooks ?? [], previous.webhooks ?? []),
    generationOfEmpty: 'webhooks',
    columns: [
      column(
        'Webhooks',
        'Webhooks indicates the number of webhooks registered in this configuration',
        ({ webhooks }: MutatingWebhookConfiguration) => webhooks?.length ?? 0,
        { type: 'integer' },
      ),
      age,
    ],
    defaults: (configuration) => withWebhooks(configuration, withMutatingWebhookDefaults),
    validate: (next, previous) => validateWebhooks(next.webhooks, previous === undefined ? 'new' : previous.webhooks),
    warnings: reservedNameWarnings,
  });
