import { resourceType, type Unstructured } from '../src/api/object.js';

/** A fictitious kind. */
export const Things = resourceType({
  group: 'example.com',
  version: 'v1',
  plural: 'things',
  kind: 'Thing',
  namespaced: true,
});
export const thing = (name: string, more: object = {}): Unstructured => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name, namespace: 'n' },
  ...more,
});
