import { map, quantity, structsOf } from '../schema/builder.js';

/** Returns the schema of a core/v1 struct, with its name in OpenAPI. */
export const coreStruct = structsOf('io.k8s.api.core.v1');

/** Schema of quantities by resource name. */
export const resourceList = map(quantity(), { go: 'v1.ResourceList' });
