import type { CustomResourceDefinition } from '../../src/api/kinds/custom-resource-definition.js';
import { type ApiObject, resourceType } from '../../src/api/object.js';

export const Gadgets = resourceType<ApiObject>({
  group: 'example.com',
  version: 'v1',
  plural: 'gadgets',
  kind: 'Gadget',
  namespaced: true,
});

export const gadgetDefinition: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'gadgets', kind: 'Gadget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};
