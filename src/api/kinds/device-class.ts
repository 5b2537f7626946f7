import { defaultDomains } from '../domains.js';
import { type ApiObject, type Json, resourceType } from '../object.js';

/** A kind of device, told by expressions over its attributes. */
export interface DeviceClass extends ApiObject {
  readonly spec?: DeviceClassSpec;
}

export interface DeviceClassSpec {
  readonly selectors?: readonly DeviceSelector[];
  readonly config?: readonly DeviceClassConfiguration[];
  readonly extendedResourceName?: string;
}

export interface DeviceSelector {
  readonly cel?: { readonly expression: string };
}

export interface DeviceClassConfiguration {
  readonly opaque?: OpaqueDeviceConfiguration;
}

/** Parameters that only the driver understands. */
export interface OpaqueDeviceConfiguration {
  readonly driver: string;
  /** A JSON object. */
  readonly parameters?: Json;
}

export const DeviceClasses = resourceType<DeviceClass>({
  group: `resource.${defaultDomains.api}`,
  version: 'v1',
  plural: 'deviceclasses',
  kind: 'DeviceClass',
  namespaced: false,
});
