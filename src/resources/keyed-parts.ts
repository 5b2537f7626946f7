import { field, listMap, string, struct } from '../schema/builder.js';
import type { Schema } from '../schema/schema.js';

/** Parts of an object that nobody here acts on: only what tells them apart is known, the rest is kept as it is. */
export const keyedParts = (name: string, key: 'name' | 'type', description: string): Schema =>
  listMap(
    struct(
      `v1.${name}`,
      { [key]: field(1, string(), { description: 'What tells it from the others.' }) },
      { preserveUnknownFields: true, description, component: `io.k8s.api.core.v1.${name}` },
    ),
    [key],
  );
