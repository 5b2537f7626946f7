import { map, quantity, structsOf } from '../schema/builder.js';

/** A struct of core/v1, with its name in OpenAPI. */
export const coreStruct = structsOf('io.k8s.api.core.v1');

/** Quantities by the name of the resource. */
export const resourceList = map(quantity(), { go: 'v1.ResourceList' });
