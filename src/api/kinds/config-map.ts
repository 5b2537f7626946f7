import { type ApiObject, resourceType } from '../object.js';

/** Configuration for programs. */
export interface ConfigMap extends ApiObject {
  /** Whether the contents can never be changed again. */
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
  /** Binary data in base64. Its keys must not occur in `data`. */
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
