import { map, quantity, struct } from '../schema/builder.js';
import type { Schema } from '../schema/schema.js';

/** A struct of core/v1, with its name in OpenAPI. */
export const coreStruct = (
  name: string,
  fields: Readonly<Record<string, Schema>>,
  more: Omit<NonNullable<Parameters<typeof struct>[2]>, 'component'>,
): Schema => struct(`v1.${name}`, fields, { ...more, component: `io.k8s.api.core.v1.${name}` });

/** Quantities by the name of the resource. */
export const resourceList = map(quantity(), { go: 'v1.ResourceList' });
