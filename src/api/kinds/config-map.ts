import { type ApiObject, resourceType } from '../object.js';

/** Configuration for programs. */
export interface ConfigMap extends ApiObject {
  /** True forbids every change of the contents, permanently. */
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
  /** Base64. Shares its keys with `data`: no key may stand in both. */
  readonly binaryData?: Readonly<Record<string, string>>;
}

/** The resource `configmaps` of `v1`, namespaced. */
export const ConfigMaps = resourceType<ConfigMap>({
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
  shortNames: ['cm'],
});
