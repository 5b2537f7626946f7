import { isDeepStrictEqual } from 'node:util';
import type { ValidatingWebhook } from '../../api/kinds/webhook-configuration.js';
import { nameRules } from '../../api/names.js';
import type { ApiObject, ResourceType } from '../../api/object.js';
import { defineResource, type ResourceDefinition } from '../../registry/resource-definition.js';
import type { Schema } from '../../schema/schema.js';
import { age, column } from '../columns.js';
import { withWebhooks } from './defaults.js';
import { reservedNameWarnings, validateWebhooks } from './validate.js';

/** Returns the definition of either webhook configuration; they differ in schema and in the defaults of a webhook. */
export const webhookConfigurations = <
  W extends ValidatingWebhook,
  T extends ApiObject & { readonly webhooks?: readonly W[] },
>(
  type: ResourceType<T>,
  schema: Schema,
  withDefaults: (webhook: W) => W,
): ResourceDefinition<T> =>
  defineResource<T>({
    ...type,
    origin: 'built-in',
    anyFinalizer: true,
    schema,
    nameRule: nameRules.dnsSubdomain,
    updateRules: ['metadata', 'contents'],
    newGeneration: (next, previous) => !isDeepStrictEqual(next.webhooks ?? [], previous.webhooks ?? []),
    generationOfEmpty: 'webhooks',
    columns: [
      column(
        'Webhooks',
        'Webhooks indicates the number of webhooks registered in this configuration',
        ({ webhooks }: T) => webhooks?.length ?? 0,
        { type: 'integer' },
      ),
      age,
    ],
    defaults: (configuration) => withWebhooks(configuration, withDefaults),
    validate: (next, previous) => validateWebhooks(next.webhooks, previous === undefined ? 'new' : previous.webhooks),
    warnings: reservedNameWarnings,
  });
