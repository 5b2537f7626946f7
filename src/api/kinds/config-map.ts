import { type ApiObject, resourceType } from '../object.js';

/** Configuration data for programs. */
export interface ConfigMap extends ApiObject {
  /** If true, the contents can no longer be changed, nor this field. */
  readonly immutable?: boolean;
  /** Text values by key. */
  readonly data?: Readonly<Record<string, string>>;
  /** Binary values by key, in base64; keys must not overlap with those of `data`. */
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
